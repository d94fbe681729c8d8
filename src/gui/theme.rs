//! Colours, fonts and spacing, for dark and light.

use std::collections::BTreeMap;
use std::sync::Arc;

use egui::epaint::text::{FontInsert, FontPriority, InsertFontFamily};
use egui::style::{ScrollAnimation, ScrollStyle, Selection, WidgetVisuals, Widgets};
use egui::{
    Color32, CornerRadius, FontData, FontFamily, FontId, Margin, RichText, Shadow, Stroke, Style,
    TextStyle, Theme, Ui, Vec2, Visuals,
};

/// The colours of a theme that egui has no name for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Palette {
    /// Behind everything.
    pub(super) background: Color32,
    /// Cards: tiles, panels.
    pub(super) card: Color32,
    /// Lines between and around them.
    pub(super) line: Color32,
    /// Behind pictures and bars.
    pub(super) well: Color32,
    /// Text.
    pub(super) text: Color32,
    /// Less important text; still at least 4.5:1 on a card.
    pub(super) weak: Color32,
    /// What can be acted on, and the best class.
    pub(super) accent: Color32,
    /// Works.
    pub(super) good: Color32,
    /// Should be looked at.
    pub(super) warning: Color32,
    /// Does not work.
    pub(super) bad: Color32,
}

const DARK: Palette = Palette {
    background: Color32::from_rgb(13, 16, 21),
    card: Color32::from_rgb(22, 26, 33),
    line: Color32::from_rgb(42, 48, 59),
    well: Color32::from_rgb(10, 12, 16),
    text: Color32::from_rgb(228, 232, 238),
    weak: Color32::from_rgb(145, 154, 168),
    accent: Color32::from_rgb(92, 162, 255),
    good: Color32::from_rgb(62, 207, 142),
    warning: Color32::from_rgb(240, 180, 60),
    bad: Color32::from_rgb(255, 112, 98),
};

const LIGHT: Palette = Palette {
    background: Color32::from_rgb(240, 242, 245),
    card: Color32::from_rgb(255, 255, 255),
    line: Color32::from_rgb(215, 220, 227),
    well: Color32::from_rgb(233, 236, 240),
    text: Color32::from_rgb(24, 30, 38),
    weak: Color32::from_rgb(92, 101, 114),
    accent: Color32::from_rgb(18, 94, 202),
    good: Color32::from_rgb(8, 110, 70),
    warning: Color32::from_rgb(140, 88, 0),
    bad: Color32::from_rgb(190, 36, 28),
};

impl Palette {
    /// The palette of the theme that `ui` is drawn in.
    pub(super) fn of(ui: &Ui) -> &'static Self {
        Self::for_theme(ui.theme())
    }

    pub(super) fn for_theme(theme: Theme) -> &'static Self {
        match theme {
            Theme::Dark => &DARK,
            Theme::Light => &LIGHT,
        }
    }
}

/// The colour of a latency stage. The hues are those of Okabe and Ito, which colour-blind people
/// tell apart, in a brightness for each theme.
pub(super) fn stage_color(theme: Theme, stage: &str) -> Color32 {
    let (dark, light) = match stage {
        "wait" => ([120, 130, 146], [138, 147, 160]),
        "copy" => ([204, 121, 167], [190, 96, 150]),
        "preprocess" => ([0, 176, 128], [0, 148, 108]),
        "queue" => ([226, 210, 72], [208, 176, 0]),
        "inference" => ([72, 148, 222], [0, 108, 178]),
        _ => ([230, 128, 40], [213, 94, 0]),
    };
    let [red, green, blue] = match theme {
        Theme::Dark => dark,
        Theme::Light => light,
    };
    Color32::from_rgb(red, green, blue)
}

/// Text in a heavier weight, for names and headline numbers.
pub(super) fn strong(text: impl Into<String>) -> RichText {
    RichText::new(text).variation("wght", 620.0)
}

/// Distance between a card and its neighbours, in points.
pub(super) const GAP: f32 = 8.0;
/// Distance between a card's edge and its contents, in points.
pub(super) const PADDING: f32 = 12.0;
/// Roundness of cards, in points.
pub(super) const CARD_RADIUS: u8 = 8;

/// How long a menu takes to fade in, where things may move.
const ANIMATION_SECONDS: f32 = 0.08;

/// Installs fonts and both themes; follows the system's choice until the user chooses.
pub(super) fn install(context: &egui::Context) {
    let inter = FontData::from_static(include_bytes!("../../assets/fonts/Inter-ringside.ttf"));
    context.add_font(FontInsert::new(
        "Inter",
        inter,
        vec![InsertFontFamily {
            family: FontFamily::Proportional,
            priority: FontPriority::Highest,
        }],
    ));
    // The last one that is asked, in both families: what no other font has.
    let asian = FontData::from_static(include_bytes!("../../assets/fonts/DroidSansFallback.ttf"));
    let last = |family| InsertFontFamily {
        family,
        priority: FontPriority::Lowest,
    };
    context.add_font(FontInsert::new(
        "Droid Sans Fallback",
        asian,
        vec![last(FontFamily::Proportional), last(FontFamily::Monospace)],
    ));
    for theme in [Theme::Dark, Theme::Light] {
        let style = style(theme, &context.style_of(theme));
        context.set_style_of(theme, Arc::new(style));
    }
}

/// With `still`, nothing moves by itself: no fading, no gliding, no blinking.
pub(super) fn set_still(context: &egui::Context, still: bool) {
    for theme in [Theme::Dark, Theme::Light] {
        let mut style = (*context.style_of(theme)).clone();
        style.animation_time = if still { 0.0 } else { ANIMATION_SECONDS };
        style.scroll_animation = if still {
            ScrollAnimation::none()
        } else {
            ScrollAnimation::default()
        };
        style.visuals.text_cursor.blink = !still;
        context.set_style_of(theme, Arc::new(style));
    }
}

fn style(theme: Theme, base: &Style) -> Style {
    let mut style = base.clone();
    style.text_styles = BTreeMap::from([
        (
            TextStyle::Heading,
            FontId::new(18.0, FontFamily::Proportional),
        ),
        (TextStyle::Body, FontId::new(13.0, FontFamily::Proportional)),
        (
            TextStyle::Button,
            FontId::new(13.0, FontFamily::Proportional),
        ),
        (
            TextStyle::Small,
            FontId::new(11.0, FontFamily::Proportional),
        ),
        (
            TextStyle::Monospace,
            FontId::new(12.0, FontFamily::Monospace),
        ),
    ]);
    style.spacing.item_spacing = Vec2::new(8.0, 4.0);
    style.spacing.button_padding = Vec2::new(10.0, 4.0);
    style.spacing.interact_size = Vec2::new(28.0, 28.0);
    style.spacing.menu_margin = Margin::same(6);
    // Seen also when the pointer is elsewhere: what has to be scrolled to is announced.
    style.spacing.scroll = ScrollStyle {
        foreground_color: true,
        dormant_background_opacity: 0.0,
        dormant_handle_opacity: 0.3,
        active_background_opacity: 0.0,
        active_handle_opacity: 0.45,
        ..ScrollStyle::thin()
    };
    style.interaction.tooltip_delay = 0.35;
    style.interaction.selectable_labels = false;
    style.visuals = visuals(theme);
    style
}

fn visuals(theme: Theme) -> Visuals {
    let palette = Palette::for_theme(theme);
    let mut visuals = theme.default_visuals();
    visuals.panel_fill = palette.background;
    visuals.window_fill = palette.card;
    visuals.window_stroke = Stroke::new(1.0, palette.line);
    visuals.window_corner_radius = CornerRadius::same(10);
    visuals.menu_corner_radius = CornerRadius::same(8);
    visuals.popup_shadow = Shadow {
        offset: [0, 4],
        blur: 16,
        spread: 0,
        color: Color32::from_black_alpha(60),
    };
    visuals.window_shadow = visuals.popup_shadow;
    visuals.extreme_bg_color = palette.well;
    visuals.faint_bg_color = palette.well;
    visuals.weak_text_color = Some(palette.weak);
    visuals.hyperlink_color = palette.accent;
    visuals.warn_fg_color = palette.warning;
    visuals.error_fg_color = palette.bad;
    visuals.selection = Selection {
        bg_fill: palette.accent.gamma_multiply(0.28),
        stroke: Stroke::new(1.0, palette.text),
    };
    visuals.widgets = widgets(palette);
    visuals
}

fn widgets(palette: &Palette) -> Widgets {
    let fill = |strength: f32| palette.text.gamma_multiply(strength);
    let widget = |strength: f32, edge: Color32| WidgetVisuals {
        bg_fill: fill(strength),
        weak_bg_fill: fill(strength),
        bg_stroke: Stroke::new(1.0, edge),
        corner_radius: CornerRadius::same(6),
        fg_stroke: Stroke::new(1.0, palette.text),
        expansion: 0.0,
    };
    Widgets {
        noninteractive: WidgetVisuals {
            bg_fill: palette.card,
            weak_bg_fill: palette.card,
            ..widget(0.0, palette.line)
        },
        inactive: widget(0.07, Color32::TRANSPARENT),
        hovered: widget(0.13, Color32::TRANSPARENT),
        active: widget(0.2, palette.accent),
        open: widget(0.13, palette.line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// WCAG 2.2, "relative luminance" and "contrast ratio".
    fn contrast(a: Color32, b: Color32) -> f64 {
        let luminance = |color: Color32| {
            let linear = |value: u8| {
                let value = f64::from(value) / 255.0;
                if value <= 0.04045 {
                    value / 12.92
                } else {
                    ((value + 0.055) / 1.055).powf(2.4)
                }
            };
            0.2126 * linear(color.r()) + 0.7152 * linear(color.g()) + 0.0722 * linear(color.b())
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn all_text_is_legible_in_both_themes() {
        for palette in [&DARK, &LIGHT] {
            for text in [
                palette.text,
                palette.weak,
                palette.accent,
                palette.good,
                palette.warning,
                palette.bad,
            ] {
                for behind in [palette.card, palette.background, palette.well] {
                    let contrast = contrast(text, behind);
                    assert!(contrast >= 4.5, "{text:?} on {behind:?}: {contrast:.2}");
                }
            }
        }
    }

    #[test]
    fn text_on_controls_and_banners_is_legible_in_both_themes() {
        for (theme, palette) in [(Theme::Dark, &DARK), (Theme::Light, &LIGHT)] {
            let visuals = visuals(theme);
            let widgets = &visuals.widgets;
            for widget in [
                &widgets.noninteractive,
                &widgets.inactive,
                &widgets.hovered,
                &widgets.active,
                &widgets.open,
            ] {
                for below in [palette.card, palette.background] {
                    let behind = below.blend(widget.bg_fill);
                    let contrast = contrast(widget.fg_stroke.color, behind);
                    assert!(contrast >= 4.5, "{theme:?}: {contrast:.2}");
                }
            }
            let selected = palette.card.blend(visuals.selection.bg_fill);
            assert!(contrast(visuals.selection.stroke.color, selected) >= 4.5);
            // Strips of tiles and pills: the colour itself on a faint ground of it.
            for color in [palette.good, palette.warning, palette.bad, palette.weak] {
                let behind = palette.card.blend(color.gamma_multiply(0.15));
                let contrast = contrast(color, behind);
                assert!(contrast >= 4.5, "{theme:?}: {color:?}: {contrast:.2}");
            }
        }
    }

    #[test]
    fn chinese_japanese_and_korean_are_drawn_and_what_is_nowhere_is_a_box() {
        let context = egui::Context::default();
        install(&context);
        let mut widths = Vec::new();
        let mut output = context.run_ui(egui::RawInput::default(), |ui| {
            for family in [FontFamily::Proportional, FontFamily::Monospace] {
                let font = FontId::new(13.0, family);
                ui.fonts_mut(|fonts| {
                    for letter in "图像分类日本語ひらがなカタカナ한국어".chars() {
                        assert!(fonts.has_glyph(&font, letter), "{letter} in {font:?}");
                    }
                    // Egyptian hieroglyphs are in none of the fonts.
                    assert!(!fonts.has_glyph(&font, '\u{13000}'), "{font:?}");
                });
            }
            for words in ["cat", "cat\u{13000}", "cat\u{13000}\u{13000}"] {
                let rect = ui.label(words).rect;
                widths.push((rect.width(), rect.height()));
            }
        });
        assert!(!output.shapes.is_empty());
        output.textures_delta.clear();
        // Each missing letter takes the room of a visible box, on the same line.
        let [one, two, three] = widths[..] else {
            panic!("three labels");
        };
        assert!(two.0 > one.0 + 3.0 && three.0 > two.0 + 3.0, "{widths:?}");
        assert!(two.1 < 1.5 * one.1 && three.1 < 1.5 * one.1, "{widths:?}");
    }

    #[test]
    fn stages_have_different_colours() {
        let stages = crate::recording::Micros::default().stages();
        for theme in [Theme::Dark, Theme::Light] {
            let mut colors: Vec<_> = stages[..6]
                .iter()
                .map(|(stage, _)| stage_color(theme, stage).to_array())
                .collect();
            colors.sort_unstable();
            colors.dedup();
            assert_eq!(colors.len(), 6);
        }
    }
}
