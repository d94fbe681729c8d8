use egui::{
    Align, Align2, Button, Color32, CursorIcon, Layout, Popup, Rect, RichText, Role, Sense, Stroke,
    Ui, Vec2, WidgetInfo, pos2, vec2,
};

use super::buffer::{Index, Kept};
use crate::base::monotonic_nanos;
use crate::gui::command::CommandSender;
use crate::gui::format;
use crate::gui::picture_command::PictureCommand;
use crate::gui::pill::Pill;
use crate::gui::saving::Said;
use crate::gui::text::text;
use crate::gui::theme::Palette;

/// What is looked back at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::gui) struct LookBack {
    /// The kept frame.
    pub(in crate::gui) seq: u64,
    /// Monotonic time of its capture, in nanoseconds.
    pub(in crate::gui) captured_nanos: u64,
}

/// A pause of the source this many times the usual distance between frames is drawn as a gap.
const GAP_TIMES: u64 = 6;
/// Shorter pauses are none, in nanoseconds.
const LEAST_GAP_NANOS: u64 = 1_000_000_000;
/// How long a message is shown, in nanoseconds.
const SAID_NANOS: u64 = 12_000_000_000;
/// Heights in points.
const TRACK_HEIGHT: f32 = 6.0;
const LEAST_TRACK: f32 = 60.0;

impl Index {
    /// The frame before `seq`, or the newest one but one where `seq` is `None`: the newest one is
    /// what is on screen.
    pub(in crate::gui) fn before(&self, seq: Option<u64>) -> Option<&Kept> {
        match seq {
            Some(seq) => {
                let place = self.frames.partition_point(|kept| kept.seq < seq);
                place
                    .checked_sub(1)
                    .and_then(|place| self.frames.get(place))
            }
            None => self.frames.iter().rev().nth(1).or(self.frames.last()),
        }
    }

    /// The frame after `seq`.
    pub(in crate::gui) fn after(&self, seq: u64) -> Option<&Kept> {
        let place = self.frames.partition_point(|kept| kept.seq <= seq);
        self.frames.get(place)
    }

    /// The frame `seq`, if it is kept.
    pub(in crate::gui) fn get(&self, seq: u64) -> Option<&Kept> {
        let place = self.frames.partition_point(|kept| kept.seq < seq);
        self.frames.get(place).filter(|kept| kept.seq == seq)
    }

    /// The frame captured last at or before a time, or the first one.
    fn at(&self, nanos: u64) -> Option<&Kept> {
        let place = self
            .frames
            .partition_point(|kept| kept.captured_nanos <= nanos);
        self.frames.get(place.saturating_sub(1))
    }

    /// Monotonic times of the first and the last frame, in nanoseconds; `None` without two.
    fn span(&self) -> Option<(u64, u64)> {
        let (first, last) = (self.frames.first()?, self.frames.last()?);
        (last.captured_nanos > first.captured_nanos)
            .then_some((first.captured_nanos, last.captured_nanos))
    }

    /// Times in which no frame was captured although frames usually are, in nanoseconds.
    fn gaps(&self) -> Vec<(u64, u64)> {
        let pairs = self.frames.windows(2);
        let distance = |pair: &[Kept]| {
            pair[1]
                .captured_nanos
                .saturating_sub(pair[0].captured_nanos)
        };
        let mut distances: Vec<u64> = pairs.clone().map(distance).collect();
        distances.sort_unstable();
        let usual = distances.get(distances.len() / 2).copied().unwrap_or(0);
        let least = (usual * GAP_TIMES).max(LEAST_GAP_NANOS);
        pairs
            .filter(|pair| distance(pair) >= least)
            .map(|pair| (pair[0].captured_nanos, pair[1].captured_nanos))
            .collect()
    }
}

/// The frames kept, where one looks among them, and what can be done with them.
pub(in crate::gui) fn bar_ui(
    ui: &mut Ui,
    kept: &Index,
    look_back: Option<LookBack>,
    said: Option<&Said>,
    commands: &CommandSender,
) {
    ui.horizontal_centered(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        ui.spacing_mut().button_padding = vec2(8.0, 1.0);
        ui.spacing_mut().interact_size = Vec2::splat(22.0);
        let has_frames = !kept.frames.is_empty();
        ui.add_enabled_ui(has_frames, |ui| steps_ui(ui, look_back.is_some(), commands));
        if let Some(look_back) = look_back {
            let now = monotonic_nanos();
            let ago = format::seconds(now.saturating_sub(look_back.captured_nanos));
            let words = (text().rewind.chip)(&ago);
            let chip = Pill {
                text: &words,
                color: Palette::of(ui).warning,
                is_state: false,
                name: &words,
            };
            chip.show(ui);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.add_enabled_ui(has_frames, |ui| save_ui(ui, commands));
            let said =
                said.filter(|said| monotonic_nanos().saturating_sub(said.since_nanos) < SAID_NANOS);
            let track = ui.available_width() - LEAST_TRACK;
            words_ui(ui, kept, said, track);
            let (rect, _) = ui.allocate_exact_size(ui.available_size(), Sense::hover());
            track_ui(ui, rect, kept, look_back, commands);
        });
    });
}

fn steps_ui(ui: &mut Ui, looks_back: bool, commands: &CommandSender) {
    let button = |ui: &mut Ui, sign: &str, name: &str, means: &str| {
        let response = ui.add(Button::new(sign).min_size(vec2(26.0, 22.0)));
        response.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), name));
        response.on_hover_text(means).clicked()
    };
    if button(ui, "◀", text().rewind.back, text().rewind.back_key) {
        commands.send(PictureCommand::Back.into());
    }
    ui.add_enabled_ui(looks_back, |ui| {
        if button(ui, "▶", text().rewind.forward, text().rewind.forward_key) {
            commands.send(PictureCommand::Forward.into());
        }
        if button(
            ui,
            text().picture.live,
            text().picture.live,
            text().rewind.live_key,
        ) {
            commands.send(PictureCommand::Live.into());
        }
    });
}

fn save_ui(ui: &mut Ui, commands: &CommandSender) {
    let button = ui
        .button(text().rewind.save)
        .on_hover_text(text().rewind.save_meaning);
    Popup::menu(&button).show(|ui| {
        for seconds in [Some(10), Some(60), None] {
            let words = &text().rewind;
            let name = seconds.map_or_else(|| words.all.to_owned(), words.last_seconds);
            if ui.button(name).clicked() {
                commands.send(PictureCommand::SaveLast(seconds).into());
            }
        }
    });
}

/// What was saved, or how much is kept; shortened to `most` points.
fn words_ui(ui: &mut Ui, kept: &Index, said: Option<&Said>, most: f32) {
    let palette = Palette::of(ui);
    let (line, color) = match said.map(|said| &said.words) {
        Some(Ok(words)) => (words.clone(), palette.good),
        Some(Err(words)) => (words.clone(), palette.bad),
        None if kept.frames.is_empty() => (text().rewind.nothing.to_owned(), palette.weak),
        None => {
            let frames = kept.frames.len();
            let number = format::count(frames as u64);
            let bytes = format::bytes(kept.bytes as u64);
            ((text().rewind.kept)(frames, &number, &bytes), palette.weak)
        }
    };
    let size = vec2(most.clamp(0.0, 420.0), ui.available_height());
    let galley = egui::WidgetText::from(RichText::new(&line).size(11.0).color(color)).into_galley(
        ui,
        Some(egui::TextWrapMode::Truncate),
        size.x,
        egui::TextStyle::Small,
    );
    let (rect, response) = ui.allocate_exact_size(vec2(galley.size().x, size.y), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &line));
    let place = Align2::RIGHT_CENTER.align_size_within_rect(galley.size(), rect);
    ui.painter().galley(place.min, galley, color);
    response.on_hover_text(line);
}

/// The times at which frames were captured, with gaps, restarts and disagreements; dragging looks
/// back.
fn track_ui(
    ui: &mut Ui,
    rect: Rect,
    kept: &Index,
    look_back: Option<LookBack>,
    commands: &CommandSender,
) {
    let palette = Palette::of(ui);
    let rect = rect.shrink2(vec2(8.0, 0.0));
    let response = ui.interact(rect, ui.scope_id().with("scrub"), Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::labeled(Role::Slider, true, text().rewind.scrub));
    let track = Rect::from_center_size(rect.center(), vec2(rect.width(), TRACK_HEIGHT));
    let painter = ui.painter();
    painter.rect_filled(track, 3.0, palette.text.gamma_multiply(0.12));
    let Some((first, last)) = kept.span() else {
        return;
    };
    let x = |nanos: u64| {
        let share = nanos.saturating_sub(first) as f64 / (last - first) as f64;
        track.left() + track.width() * share.min(1.0) as f32
    };
    let nanos = |x: f32| {
        let share = f64::from((x - track.left()) / track.width()).clamp(0.0, 1.0);
        first + ((last - first) as f64 * share).round() as u64
    };
    painter.rect_filled(track, 3.0, palette.accent.gamma_multiply(0.35));
    for (from, to) in kept.gaps() {
        let gap = Rect::from_x_y_ranges(x(from)..=x(to), track.y_range());
        painter.rect_filled(gap, 0.0, palette.card);
        painter.hline(
            gap.x_range(),
            gap.center().y,
            Stroke::new(1.0, palette.weak),
        );
    }
    let tick = |x: f32, top: f32, bottom: f32, color: Color32| {
        painter.vline(x, top..=bottom, Stroke::new(1.5, color));
    };
    let mut drawn = f32::NEG_INFINITY;
    for frame in kept.frames.iter().filter(|frame| frame.disagrees) {
        let at = x(frame.captured_nanos);
        // Ticks that would touch are one.
        if at >= drawn + 2.0 {
            tick(
                at,
                track.bottom() + 1.0,
                track.bottom() + 5.0,
                palette.warning,
            );
            drawn = at;
        }
    }
    for mark in &kept.marks {
        tick(
            x(mark.at_nanos),
            track.top() - 5.0,
            track.bottom(),
            palette.bad,
        );
    }
    let at = look_back.map_or(last, |look_back| look_back.captured_nanos);
    let color = match look_back {
        Some(_) => palette.warning,
        None => palette.accent,
    };
    painter.circle(
        pos2(x(at.max(first)), track.center().y),
        6.0,
        color,
        Stroke::new(1.5, palette.card),
    );
    let pointed = response
        .interact_pointer_pos()
        .filter(|_| response.clicked() || response.dragged());
    if let Some(frame) = pointed.and_then(|at| kept.at(nanos(at.x)))
        && look_back.is_none_or(|look_back| look_back.seq != frame.seq)
    {
        commands.send(PictureCommand::LookAt(frame.seq).into());
    }
    if let Some(at) = response.hover_pos() {
        let about = hover_text(kept, nanos(at.x), |nanos| (x(nanos) - at.x).abs() < 3.0);
        response
            .on_hover_cursor(CursorIcon::PointingHand)
            .on_hover_ui_at_pointer(|ui| {
                ui.label(about);
            });
    }
}

/// What is at a place of the track; `is_near` tells for other times whether they are drawn there.
fn hover_text(kept: &Index, nanos: u64, is_near: impl Fn(u64) -> bool) -> String {
    let mut lines = Vec::new();
    if let Some(frame) = kept.at(nanos) {
        let ago = monotonic_nanos().saturating_sub(frame.captured_nanos);
        let path = frame.path.as_deref().unwrap_or_default();
        lines.push(format!("#{} · −{} {path}", frame.seq, format::seconds(ago)));
        if frame.disagrees {
            lines.push(text().rewind.disagree.to_owned());
        }
    }
    if kept
        .gaps()
        .iter()
        .any(|&(from, to)| (from + 1..to).contains(&nanos))
    {
        lines.push(text().rewind.gap.to_owned());
    }
    for mark in kept.marks.iter().filter(|mark| is_near(mark.at_nanos)) {
        lines.push((text().rewind.restarted)(&mark.restarted));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(times: &[(u64, u64)]) -> Index {
        let frame = |&(seq, millis): &(u64, u64)| Kept {
            seq,
            captured_nanos: millis * 1_000_000,
            path: None,
            disagrees: false,
        };
        Index {
            frames: times.iter().map(frame).collect(),
            ..Default::default()
        }
    }

    #[test]
    fn stepping_goes_from_kept_frame_to_kept_frame() {
        let kept = index(&[(3, 10), (5, 20), (9, 30)]);
        let seq = |kept: Option<&Kept>| kept.map(|kept| kept.seq);
        assert_eq!(seq(kept.before(None)), Some(5), "9 is on screen");
        assert_eq!(seq(kept.before(Some(5))), Some(3));
        assert_eq!(seq(kept.before(Some(4))), Some(3), "a frame that is gone");
        assert_eq!(seq(kept.before(Some(3))), None);
        assert_eq!(seq(kept.after(3)), Some(5));
        assert_eq!(seq(kept.after(9)), None);
        assert_eq!(seq(kept.get(9)), Some(9));
        assert_eq!(seq(kept.get(4)), None);
        assert_eq!(seq(index(&[]).before(None)), None);
        assert_eq!(seq(index(&[(1, 1)]).before(None)), Some(1));
    }

    #[test]
    fn a_long_pause_is_a_gap_and_an_even_slow_pace_is_none() {
        let kept = index(&[(1, 0), (2, 33), (3, 66), (4, 4_000), (5, 4_033)]);
        assert_eq!(kept.gaps(), [(66_000_000, 4_000_000_000)]);
        let slow = index(&[(1, 0), (2, 5_000), (3, 10_000), (4, 15_000)]);
        assert_eq!(slow.gaps(), []);
    }

    #[test]
    fn a_place_on_the_track_is_the_frame_captured_last_by_then() {
        let kept = index(&[(1, 0), (2, 100), (3, 200)]);
        let at = |millis: u64| kept.at(millis * 1_000_000).map(|kept| kept.seq);
        assert_eq!(
            (at(0), at(99), at(100), at(500)),
            (Some(1), Some(1), Some(2), Some(3))
        );
    }
}
