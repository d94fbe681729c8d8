use std::path::PathBuf;

use egui::{Key, KeyboardShortcut, Modifiers};

use super::strings;
use crate::gui::text::{Strings, text};
use crate::protocol::ModelSpec;
use crate::session::SessionCommand;

/// What the panel of source and models, its picker and its guide ask for.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::gui) enum SideCommand {
    /// Show or hide the panel.
    Toggle,
    /// Tell the session.
    Session(SessionCommand),
    /// Take frames from this address, as a person typed it.
    SetSource(String),
    /// Take frames from this folder or file, which exists.
    UsePath {
        /// Where it is.
        path: PathBuf,
        /// Whether it is a folder.
        is_folder: bool,
    },
    /// Add a model.
    AddModel(PathBuf),
    /// Remove a model, so that it can be brought back.
    RemoveModel(Box<ModelSpec>),
    /// Bring the removed model back.
    UndoRemove,
    /// Let the user choose a file or a folder.
    Pick(Purpose),
    /// Run the session of this file instead.
    OpenSession(PathBuf),
    /// Write the session to this file.
    SaveSession(PathBuf),
    /// Run the demo instead.
    OpenDemo,
    /// Install ONNX Runtime.
    InstallRuntime,
    /// Stop installing it.
    CancelInstall,
    /// Forget the notice.
    Dismiss,
}

/// What a file is chosen for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::gui) enum Purpose {
    /// To take frames from it.
    Source,
    /// To add it as a model.
    Model,
    /// To take a model's labels from it.
    Labels,
    /// To run its session.
    Session,
    /// To write the session to it.
    Save,
}

impl SideCommand {
    /// The commands that have a key, in the order of the keys' sheet.
    pub(in crate::gui) const WITH_KEYS: [Self; 3] = [
        Self::Toggle,
        Self::Pick(Purpose::Source),
        Self::Pick(Purpose::Save),
    ];

    /// What it is called.
    pub(in crate::gui) fn text(&self) -> &'static str {
        self.text_in(text())
    }

    /// The same in a certain language.
    pub(in crate::gui) fn text_in(&self, all: &'static Strings) -> &'static str {
        match self {
            Self::Toggle => all.side.panel,
            Self::Pick(Purpose::Save) | Self::SaveSession(_) => all.side.save_session,
            Self::Pick(Purpose::Session) | Self::OpenSession(_) => all.side.open_session,
            Self::Pick(Purpose::Model) | Self::AddModel(_) => all.side.choose_model,
            Self::Pick(_) => all.side.open,
            Self::SetSource(_) | Self::UsePath { .. } | Self::Session(_) => strings::USE,
            Self::RemoveModel(_) | Self::UndoRemove => strings::UNDO,
            Self::OpenDemo => all.side.demo,
            Self::InstallRuntime => strings::INSTALL,
            Self::CancelInstall => strings::CANCEL,
            Self::Dismiss => strings::DISMISS,
        }
    }

    /// What it does.
    pub(in crate::gui) fn tooltip(&self) -> &'static str {
        match self {
            Self::Toggle => text().side.panel_tip,
            Self::Pick(Purpose::Source) => text().side.open_tip,
            Self::Pick(Purpose::Save) => text().side.save_tip,
            other => other.text(),
        }
    }

    /// The keys that do it.
    pub(in crate::gui) fn shortcuts(&self) -> &'static [KeyboardShortcut] {
        const fn with_control(key: Key) -> KeyboardShortcut {
            KeyboardShortcut::new(Modifiers::COMMAND, key)
        }
        match self {
            Self::Toggle => const { &[KeyboardShortcut::new(Modifiers::NONE, Key::B)] },
            Self::Pick(Purpose::Source) => const { &[with_control(Key::O)] },
            Self::Pick(Purpose::Save) => const { &[with_control(Key::S)] },
            _ => &[],
        }
    }
}
