//! Resized pixels and placements equal Pillow's, OpenCV's, Ultralytics' and YOLOX'.

use ringside::consumer::preprocess::{Placement, Preprocessor, TensorSlice};
use ringside::protocol::{Filter, Resize};

use crate::fixtures::{Case, Fixtures, difference};

fn run(case: &Case, pad: u8) -> (Vec<u8>, Placement) {
    let input = case.input_tensor();
    let mut out = vec![0; input.image_len(case.size[0], case.size[1])];
    let placement = Preprocessor::new(&case.preprocess(pad), &input)
        .run(&case.frame(), &mut TensorSlice::U8(&mut out))
        .unwrap();
    (out, placement)
}

#[test]
fn antialiased_filters_are_within_two_levels_of_pillow() {
    let fixtures = Fixtures::load();
    let antialiased = [Filter::PilBilinear, Filter::PilBicubic];
    let mut cases = 0;
    let mut worst = (0, 0.0_f64);
    for case in &fixtures.cases {
        if !antialiased.contains(&case.filter) {
            continue;
        }
        let (actual, _) = run(case, fixtures.pad);
        let (max, mean) = difference(&actual, fixtures.expected(case));
        assert!(max <= 2 && mean < 0.15, "{case:?}: max {max}, mean {mean}");
        worst = (worst.0.max(max), worst.1.max(mean));
        cases += 1;
    }
    println!(
        "{cases} cases: at most {} levels, mean {:.4}",
        worst.0, worst.1
    );
    assert!(cases > 80, "{cases} cases");
}

#[test]
fn linear_and_nearest_equal_opencv_bit_for_bit() {
    let fixtures = Fixtures::load();
    let mut cases = 0;
    for case in &fixtures.cases {
        if ![Filter::CvLinear, Filter::Nearest].contains(&case.filter) {
            continue;
        }
        let (actual, _) = run(case, fixtures.pad);
        let (max, mean) = difference(&actual, fixtures.expected(case));
        assert_eq!(max, 0, "{case:?}: max {max}, mean {mean}");
        cases += 1;
    }
    assert!(cases > 80, "{cases} cases");
}

#[test]
fn placements_are_those_of_the_reference() {
    let fixtures = Fixtures::load();
    for case in &fixtures.cases {
        let (_, placement) = run(case, fixtures.pad);
        let parts = [placement.crop, placement.target];
        let parts = parts.map(|part| [part.left, part.top, part.width, part.height]);
        assert_eq!(parts, [case.crop, case.target], "{case:?}");
    }
}

#[test]
fn every_way_of_fitting_is_among_the_cases() {
    let fixtures = Fixtures::load();
    for resize in [
        Resize::Stretch,
        Resize::Letterbox,
        Resize::LetterboxTopleft,
        Resize::ShortestCrop,
    ] {
        let cases = fixtures.cases.iter().filter(|case| case.resize == resize);
        assert!(cases.count() > 30, "{resize:?}");
    }
}
