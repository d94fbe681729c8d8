//! Where things are, at any size and with any number of models.

use std::time::{Duration, Instant};

use egui_kittest::kittest::Queryable;

use crate::fake;
use crate::harness::{LONG, wait_for, window_of_size};

#[test]
fn tiles_of_many_models_keep_their_size_and_show_name_age_and_badge() {
    for size in [[900.0, 600.0], [1280.0, 820.0], [3840.0, 2160.0]] {
        for models in [1, 2, 3, 4, 6, 8, 12] {
            let view = fake::many(models, 333);
            let names: Vec<String> = view
                .models
                .iter()
                .map(|model| model.spec.name.clone())
                .collect();
            let (mut harness, _) = window_of_size(view, size);
            let what = format!("{models} models at {size:?}");
            let begin = Instant::now();
            while harness.query_all_by_label_contains("frame age ").count() < models {
                assert!(begin.elapsed() < LONG, "{what}: answers never came");
                std::thread::sleep(Duration::from_millis(5));
                harness.step();
            }
            let menus: Vec<egui::Rect> = names
                .iter()
                .map(|name| harness.get_by_label(&format!("Menu of {name}")).rect())
                .collect();
            let ages: Vec<egui::Rect> = harness
                .query_all_by_label_contains("frame age ")
                .map(|age| age.rect())
                .collect();
            assert_eq!(ages.len(), models, "{what}");
            for (place, name) in names.iter().enumerate() {
                let title = harness.get_by_label(name).rect();
                assert!(title.width() > 20.0, "{what}: {name} at {title}");
                for age in &ages {
                    assert!(!title.intersects(*age), "{what}: {name} and {age}");
                }
                for other in &menus[place + 1..] {
                    assert!(!menus[place].intersects(*other), "{what}");
                }
            }
            let badges: Vec<egui::Rect> = harness
                .query_all_by_label(fake::GPU_BADGE)
                .map(|badge| badge.rect())
                .collect();
            assert_eq!(badges.len(), models / 3, "{what}");
            for badge in badges {
                // Its words take about 250 points; shortened, it would be narrower.
                assert!(badge.width() > 230.0, "{what}: {badge}");
                assert!(badge.right() <= size[0], "{what}: {badge}");
                for menu in &menus {
                    assert!(!badge.intersects(*menu), "{what}: {badge} and {menu}");
                }
            }
        }
    }
}

#[test]
fn everything_fits_a_small_window_and_a_scaled_one() {
    for (size, scale) in [
        ([720.0, 480.0], 1.0),
        ([900.0, 600.0], 2.0),
        ([3840.0, 2160.0], 1.0),
    ] {
        let (mut harness, _) = window_of_size(fake::running(154), size);
        harness.set_pixels_per_point(scale);
        harness.run_ok();
        wait_for(&mut harness, "tiger cat 61.2 %");
        let screen = egui::Rect::from_min_size(egui::Pos2::ZERO, size.into());
        for control in ["Pause", "Step", "Loop", "Theme", "Keys", "Latency"] {
            let rect = harness.get_by_label(control).rect();
            assert!(
                screen.contains_rect(rect),
                "{control} at {rect:?} of {size:?}"
            );
        }
    }
}
