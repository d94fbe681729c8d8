use crossbeam::channel::{Receiver, Sender, unbounded};
use egui::{Context, Key, KeyboardShortcut, Modifiers};

use super::picture_command::PictureCommand;
use super::sources::SideCommand;
use super::text::{Strings, text};

/// Everything that the user can ask for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum UiCommand {
    /// Start, pause, or begin again after the end.
    TogglePlay,
    /// One frame, then pause.
    Step,
    /// Go back to the source's first frame.
    Rewind,
    /// Begin again at the end of the source, or not.
    ToggleLoop,
    /// Dark, light, as the system.
    NextTheme,
    /// The other language.
    NextLanguage,
    /// Show the latency timeline.
    ShowLatency,
    /// Show the log.
    ShowLog,
    /// Show the processes and their ring.
    ShowProcesses,
    /// Show the log lines about this model.
    ShowLogOf(String),
    /// Copy the log lines that pass the filter.
    CopyLog,
    /// Copy this text.
    CopyText(String),
    /// Show or hide the keys.
    ToggleKeys,
    /// Show this model alone, or all again; counted from 0.
    Solo(usize),
    /// Show all models.
    ShowAll,
    /// Close the window and end the session.
    Quit,
    /// Start the source's process anew.
    RestartSource,
    /// Start a model's process anew.
    RestartModel(String),
    /// Let a model leave the set of readers.
    PauseModel(String),
    /// Show this model alone, or all again.
    SoloOf(String),
    /// Open or close the command palette.
    TogglePalette,
    /// Animations, or none.
    ToggleMotion,
    /// Let it join again.
    ResumeModel(String),
    /// Stop a model and forget it.
    RemoveModel(String),
    /// Save what repeats a model's last answer.
    SaveRepro(String),
    /// Something about pictures.
    Picture(PictureCommand),
    /// The panel of source and models, and what it opens.
    Side(SideCommand),
}

impl From<PictureCommand> for UiCommand {
    fn from(command: PictureCommand) -> Self {
        Self::Picture(command)
    }
}

/// How many models have a number key.
pub(super) const SOLO_KEYS: usize = 9;

impl UiCommand {
    /// The commands that have a key, in the order of the keys' sheet.
    pub(super) const WITH_KEYS: [Self; 14] = [
        Self::TogglePlay,
        Self::Step,
        Self::Rewind,
        Self::ToggleLoop,
        Self::Solo(0),
        Self::ShowAll,
        Self::ShowLatency,
        Self::ShowLog,
        Self::ShowProcesses,
        Self::NextTheme,
        Self::NextLanguage,
        Self::TogglePalette,
        Self::ToggleKeys,
        Self::Quit,
    ];

    /// The commands that have a key, those about pictures too.
    pub(super) fn with_keys() -> impl Iterator<Item = Self> {
        let pictures = PictureCommand::WITH_KEYS.into_iter().map(Self::Picture);
        let of_side = SideCommand::WITH_KEYS.into_iter().map(Self::Side);
        Self::WITH_KEYS.into_iter().chain(of_side).chain(pictures)
    }

    /// What it is called on buttons, in menus and for assistive technology.
    pub(super) fn text(&self) -> &'static str {
        self.text_in(text())
    }

    /// The same in a certain language.
    pub(super) fn text_in(&self, strings: &'static Strings) -> &'static str {
        let names = &strings.command;
        match self {
            Self::TogglePlay => names.toggle_play,
            Self::Step => names.step,
            Self::Rewind => names.rewind,
            Self::ToggleLoop => names.toggle_loop,
            Self::NextTheme => names.theme,
            Self::NextLanguage => names.language,
            Self::ShowLatency => names.latency,
            Self::ShowLog => names.log,
            Self::ShowProcesses => names.processes,
            Self::ShowLogOf(_) => names.show_log,
            Self::CopyLog | Self::CopyText(_) => names.copy_log,
            Self::ToggleKeys => names.keys,
            Self::Solo(_) => names.solo,
            Self::ShowAll => names.show_all,
            Self::Quit => names.quit,
            Self::RestartSource => names.restart_source,
            Self::RestartModel(_) => names.restart_model,
            Self::PauseModel(_) => names.pause_model,
            Self::ResumeModel(_) => names.resume_model,
            Self::SoloOf(_) => names.solo,
            Self::TogglePalette => names.palette,
            Self::ToggleMotion => names.motion,
            Self::RemoveModel(_) => names.remove_model,
            Self::SaveRepro(_) => names.save_repro,
            Self::Picture(command) => command.text_in(strings),
            Self::Side(command) => command.text_in(strings),
        }
    }

    /// Its name where it stands without what it is about: with the name of its model, or of the
    /// source.
    pub(super) fn full_name_in(&self, strings: &'static Strings) -> String {
        let name = self.text_in(strings);
        let of = |about: &str| (strings.process.of_process)(name, about);
        match self {
            Self::SoloOf(model) => (strings.command.solo_of)(model),
            Self::RestartSource => of(strings.log.of_source),
            Self::CopyLog => of(strings.command.log),
            Self::RestartModel(model)
            | Self::PauseModel(model)
            | Self::ResumeModel(model)
            | Self::RemoveModel(model)
            | Self::SaveRepro(model)
            | Self::ShowLogOf(model) => of(model),
            _ => name.to_owned(),
        }
    }

    /// What it does.
    pub(super) fn tooltip(&self) -> &'static str {
        let tips = &text().tip;
        match self {
            Self::TogglePlay => tips.toggle_play,
            Self::Step => tips.step,
            Self::Rewind => tips.rewind,
            Self::ToggleLoop => tips.toggle_loop,
            Self::NextTheme => tips.theme,
            Self::NextLanguage => tips.language,
            Self::ShowLatency => tips.latency,
            Self::ShowLog => tips.log,
            Self::ShowProcesses => tips.processes,
            Self::ShowLogOf(_) => tips.show_log,
            Self::CopyLog => tips.copy_log,
            Self::CopyText(_) => text().log.copy_line,
            Self::ToggleKeys => tips.keys,
            Self::Solo(_) => tips.solo,
            Self::ShowAll => tips.show_all,
            Self::Quit => tips.quit,
            Self::RestartSource => tips.restart_source,
            Self::RestartModel(_) => tips.restart_model,
            Self::PauseModel(_) => tips.pause_model,
            Self::ResumeModel(_) => tips.resume_model,
            Self::SoloOf(_) => tips.solo,
            Self::TogglePalette => tips.palette,
            Self::ToggleMotion => tips.motion,
            Self::RemoveModel(_) => tips.remove_model,
            Self::SaveRepro(_) => tips.save_repro,
            Self::Picture(command) => command.tooltip(),
            Self::Side(command) => command.tooltip(),
        }
    }

    /// The keys that do it, the first one being shown.
    pub(super) fn shortcuts(&self) -> &'static [KeyboardShortcut] {
        const fn plain(key: Key) -> KeyboardShortcut {
            KeyboardShortcut::new(Modifiers::NONE, key)
        }
        match self {
            Self::TogglePlay => const { &[plain(Key::Space)] },
            Self::Step => const { &[plain(Key::Period), plain(Key::ArrowRight)] },
            Self::Rewind => const { &[plain(Key::Home)] },
            Self::ToggleLoop => const { &[plain(Key::L)] },
            Self::NextTheme => const { &[plain(Key::T)] },
            Self::ShowLatency => const { &[plain(Key::F2)] },
            Self::ShowLog => const { &[plain(Key::F3)] },
            Self::ShowProcesses => const { &[plain(Key::F4)] },
            Self::NextLanguage => const { &[plain(Key::F8)] },
            Self::ToggleKeys => const { &[plain(Key::Questionmark), plain(Key::F1)] },
            Self::ShowAll => const { &[plain(Key::Num0)] },
            Self::Quit => {
                const {
                    &[
                        plain(Key::Q),
                        KeyboardShortcut::new(Modifiers::COMMAND, Key::Q),
                    ]
                }
            }
            Self::Solo(number) => match number {
                0 => const { &[plain(Key::Num1)] },
                1 => const { &[plain(Key::Num2)] },
                2 => const { &[plain(Key::Num3)] },
                3 => const { &[plain(Key::Num4)] },
                4 => const { &[plain(Key::Num5)] },
                5 => const { &[plain(Key::Num6)] },
                6 => const { &[plain(Key::Num7)] },
                7 => const { &[plain(Key::Num8)] },
                8 => const { &[plain(Key::Num9)] },
                _ => &[],
            },
            Self::TogglePalette => {
                const {
                    &[
                        KeyboardShortcut::new(Modifiers::COMMAND, Key::K),
                        KeyboardShortcut::new(Modifiers::COMMAND, Key::P),
                    ]
                }
            }
            Self::Picture(command) => command.shortcuts(),
            Self::Side(command) => command.shortcuts(),
            Self::ShowLogOf(_)
            | Self::SoloOf(_)
            | Self::ToggleMotion
            | Self::CopyLog
            | Self::CopyText(_)
            | Self::RestartSource
            | Self::RestartModel(_)
            | Self::PauseModel(_)
            | Self::ResumeModel(_)
            | Self::RemoveModel(_)
            | Self::SaveRepro(_) => &[],
        }
    }

    /// Its keys as text: `Space`, `. or →`.
    pub(super) fn keys_text(&self) -> String {
        if matches!(self, Self::Solo(_)) {
            return text().keys.one_to_nine.to_owned();
        }
        let keys: Vec<String> = self.shortcuts().iter().map(key_text).collect();
        keys.join(&format!(" {} ", text().keys.or))
    }

    /// Tooltip with the first key.
    pub(super) fn tooltip_with_key(&self) -> String {
        match self.shortcuts().first() {
            Some(key) => format!("{} ({})", self.tooltip(), key_text(key)),
            None => self.tooltip().to_owned(),
        }
    }

    /// The commands whose keys were pressed since the last pass. While a text field has the focus
    /// only keys with Ctrl count, and while a control has it, Space and arrows belong to the control.
    pub(super) fn pressed(context: &Context) -> Vec<Self> {
        let typing = context.text_edit_focused();
        let focused = context.memory(|memory| memory.focused().is_some());
        let allowed = |shortcut: &KeyboardShortcut| {
            let plain = shortcut.modifiers.is_none();
            let of_controls = matches!(
                shortcut.logical_key,
                Key::Space | Key::ArrowRight | Key::ArrowLeft
            );
            !(plain && (typing || focused && of_controls))
        };
        let solos = (1..SOLO_KEYS).map(Self::Solo);
        context.input_mut(|input| {
            Self::with_keys()
                .chain(solos)
                .filter(|command| {
                    command.shortcuts().iter().any(|shortcut| {
                        allowed(shortcut)
                            && input.modifiers.matches_exact_or_shift(shortcut)
                            && input.consume_shortcut(shortcut)
                    })
                })
                .collect()
        })
    }
}

trait MatchesShortcut {
    /// Whether no other modifier is held than those of the shortcut; Shift does not count, as some
    /// keyboards need it for `?`.
    fn matches_exact_or_shift(&self, shortcut: &KeyboardShortcut) -> bool;
}

impl MatchesShortcut for Modifiers {
    fn matches_exact_or_shift(&self, shortcut: &KeyboardShortcut) -> bool {
        self.alt == shortcut.modifiers.alt && self.command == shortcut.modifiers.command
    }
}

fn key_text(shortcut: &KeyboardShortcut) -> String {
    let key = match shortcut.logical_key {
        Key::ArrowRight => "→",
        Key::ArrowLeft => "←",
        Key::Comma => ",",
        Key::Plus => "+",
        Key::Equals => "=",
        Key::Minus => "−",
        Key::Period => ".",
        Key::Questionmark => "?",
        key => key.name(),
    };
    if shortcut.modifiers.command {
        format!("Ctrl+{key}")
    } else {
        key.to_owned()
    }
}

/// Where views send commands; they are run at the next pass.
#[derive(Clone)]
pub(super) struct CommandSender {
    sender: Sender<UiCommand>,
    context: Context,
}

impl CommandSender {
    /// A sender, and where its commands come out. The channel has no bound: a person fills it, and
    /// each pass empties it.
    pub(super) fn new(context: Context) -> (Self, Receiver<UiCommand>) {
        let (sender, receiver) = unbounded();
        (Self { sender, context }, receiver)
    }

    pub(super) fn send(&self, command: UiCommand) {
        if self.sender.send(command).is_ok() {
            self.context.request_repaint();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_commands_share_a_key() {
        let mut seen = HashSet::new();
        let solos = (1..SOLO_KEYS).map(UiCommand::Solo);
        for command in UiCommand::with_keys().chain(solos) {
            assert!(!command.shortcuts().is_empty(), "{command:?}");
            for shortcut in command.shortcuts() {
                assert!(seen.insert(*shortcut), "{command:?}: {shortcut:?}");
            }
        }
    }

    #[test]
    fn keys_are_shown_as_people_name_them() {
        assert_eq!(UiCommand::TogglePlay.keys_text(), "Space");
        assert_eq!(UiCommand::Step.keys_text(), ". or →");
        assert_eq!(UiCommand::Quit.keys_text(), "Q or Ctrl+Q");
        assert_eq!(UiCommand::Solo(0).keys_text(), "1 to 9");
    }
}
