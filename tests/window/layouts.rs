//! Tiles are arranged by hand and by keys.

use egui::{Key, Rect, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use ringside::gui::App;

use crate::fake;
use crate::harness::{has, has_part, wait_for, window, window_of_size};

fn menu(harness: &Harness<'_, App>, name: &str) -> Rect {
    harness.get_by_label(&format!("Menu of {name}")).rect()
}

#[test]
fn keys_arrange_tiles_side_by_side_stacked_and_as_a_grid_again() {
    let (mut harness, _) = window(fake::running(154));
    wait_for(&mut harness, "Frame 154");
    let both = |harness: &Harness<'_, App>| [menu(harness, "lite0"), menu(harness, "lite0-int8")];
    let grid = both(&harness);
    harness.key_press(Key::G);
    harness.run_ok();
    let [first, second] = both(&harness);
    assert!(first.right() < second.left() && first.top() == second.top());
    harness.key_press(Key::G);
    harness.run_ok();
    let [first, second] = both(&harness);
    assert!(first.bottom() < second.top() && first.left() == second.left());
    harness.key_press(Key::R);
    harness.run_ok();
    assert_eq!(both(&harness), grid);
}

#[test]
fn many_tiles_side_by_side_scroll_and_keep_their_least_width() {
    let (mut harness, _) = window_of_size(fake::many(6, 333), [900.0, 600.0]);
    harness.run_ok();
    harness.key_press(Key::G);
    harness.run_ok();
    let first = menu(&harness, "lite0");
    let second = menu(&harness, "lite0-int8-1");
    assert!(second.left() - first.left() >= 340.0, "{first} {second}");
    assert_eq!(first.top(), second.top());
}

#[test]
fn tiles_that_are_scrolled_away_do_not_catch_clicks_on_what_is_there() {
    let (mut harness, _) = window_of_size(fake::many(6, 333), [900.0, 600.0]);
    harness.run_ok();
    // The third row of tiles would be below the tab.
    harness.get_by_label("Log · 3").click();
    harness.run_ok();
    assert!(has_part(&harness, "restarted, attempt 1"));
}

#[test]
fn a_tile_dragged_below_another_stays_there_until_the_layout_is_reset() {
    let (mut harness, _) = window(fake::running(154));
    wait_for(&mut harness, "Frame 154");
    let before = menu(&harness, "lite0");
    let grip = harness.get_by_label("Move lite0").rect();
    let from = grip.left_center() + vec2(200.0, 12.0);
    // The lower part of the other tile.
    let other = harness.get_by_label("Move lite0-int8").rect();
    let to = other.center_bottom() + vec2(0.0, 330.0);
    harness.drag_at(from);
    harness.run_ok();
    for step in 1..=8 {
        harness.hover_at(from + (to - from) * (step as f32 / 8.0));
        harness.run_ok();
    }
    harness.drop_at(to);
    harness.run_ok();
    let [first, second] = ["lite0", "lite0-int8"].map(|name| menu(&harness, name));
    assert!(second.bottom() < first.top(), "{second} above {first}");
    harness.key_press(Key::R);
    harness.run_ok();
    assert_eq!(menu(&harness, "lite0"), before);
    assert!(has(&harness, "Frame 154"));
}

#[test]
fn one_picture_has_the_answers_of_all_models_beside_it() {
    let (mut harness, _) = window(fake::running(154));
    wait_for(&mut harness, "Frame 154");
    harness.key_press(Key::S);
    harness.run_ok();
    assert_eq!(harness.query_all_by_label("Frame 154").count(), 1);
    assert!(has(&harness, "tiger cat 61.2 %"));
    assert!(has(&harness, "tiger cat 56.9 %"));
    harness.key_press(Key::S);
    harness.run_ok();
    assert_eq!(harness.query_all_by_label("Frame 154").count(), 2);
}

#[test]
fn an_answer_to_another_frame_than_the_one_picture_says_so() {
    let mut view = fake::running(154);
    view.models[1].shown = fake::running(153).models[1].shown.clone();
    let (mut harness, _) = window(view);
    wait_for(&mut harness, "Frame 154");
    harness.key_press(Key::S);
    harness.run_ok();
    assert!(has(&harness, "still #153"));
}
