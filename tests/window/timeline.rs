//! The latency timeline: what it tells, and what a click on it does.

use std::time::Instant;

use egui_kittest::kittest::Queryable;

use crate::fake;
use crate::harness::{LONG, has_part, kept_text, wait_for, window};

#[test]
fn a_click_on_the_timeline_brings_its_frame_back() {
    let (mut harness, fake) = window(fake::running(154));
    for seq in 154..=155 {
        fake.set(fake::running(seq));
        wait_for(&mut harness, &format!("Frame {seq}"));
        let kept = kept_text(seq - 153);
        let begin = Instant::now();
        while !has_part(&harness, &kept) {
            assert!(begin.elapsed() < LONG, "frame {seq} was never kept");
            std::thread::sleep(std::time::Duration::from_millis(5));
            harness.step();
        }
    }
    // The last column ends at the plot's right edge; the one before it is left of it.
    let tab = harness.get_by_label("Latency").rect();
    let bar = harness.get_by_label("Frames kept").rect();
    let right = (1280.0 - 8.0 - 12.0 - 8.0 - 12.0) / 2.0 + 12.0;
    let y = (tab.bottom() + 820.0) / 2.0;
    assert!(y > bar.bottom());
    let mut x = right - 1.0;
    while !has_part(&harness, "looking back, ") {
        assert!(x > 500.0, "no column of frame 154 or 155 was found");
        harness.hover_at(egui::pos2(x, y));
        harness.run_ok();
        harness.drag_at(egui::pos2(x, y));
        harness.drop_at(egui::pos2(x, y));
        harness.run_ok();
        x -= 1.5;
    }
}

#[test]
fn the_budget_counts_what_takes_longer_and_a_histogram_shows_each_stage() {
    let (mut harness, _) = window(fake::running(154));
    wait_for(&mut harness, "Frame 154");
    harness.get_by_label("budget 33 ms").click();
    harness.run_ok();
    harness.get_by_label("Histogram of each stage").click();
    harness.run_ok();
    for stage in ["wait", "copy", "preprocess", "queue", "inference", "decode"] {
        assert!(has_part(&harness, &format!("{stage}: p50 ")), "{stage}");
    }
    // Each answer waits 60 µs and decoding takes 70 µs in this scene.
    assert!(has_part(&harness, "wait: p50 0.06 ms, p99 0.06 ms"));
    assert!(has_part(&harness, "decode: p50 0.07 ms, p99 0.07 ms"));
}
