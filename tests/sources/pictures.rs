//! Pictures are decoded as Pillow and OpenCV decode them, or refused with a reason.

use super::*;

#[test]
fn pictures_are_what_pillow_and_opencv_decode() {
    let expected = expected_pictures();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for set in ["edge", "cases", "pictures"] {
        let played = play(&mut *folder(&data(set), ""));
        for (key, expected) in &expected {
            let Some(name) = key.strip_prefix(&format!("{set}/")) else {
                continue;
            };
            seen += 1;
            let name = escape_path(Path::new(name));
            let refused = REFUSED.iter().find(|(refused, _)| refused == key);
            let reason = played.skipped.get(&name);
            match (expected, refused, played.frames.get(&name)) {
                (Expected::Refused { .. }, _, None) => assert!(reason.is_some(), "{key}"),
                (Expected::Picture { .. }, Some((_, words)), None) => {
                    let reason = reason.expect(key);
                    assert!(reason.starts_with(words), "{key}: {reason}");
                }
                (Expected::Picture { .. }, None, Some(frame)) => {
                    wrong.extend(difference(frame, expected).map(|text| format!("{key}: {text}")));
                }
                (_, _, frame) => wrong.push(format!("{key}: {frame:?} {reason:?}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(seen, expected.len());
}

/// How a frame differs from what was decoded elsewhere, if it does.
fn difference(frame: &Frame, expected: &Expected) -> Option<String> {
    let Expected::Picture {
        size,
        stored,
        orientation,
        mean,
        samples,
    } = expected
    else {
        return Some("decoded, where Pillow refuses".to_owned());
    };
    let position = &frame.position;
    let width = frame.description.width;
    if [width, frame.description.height] != *size
        || position.stored != *stored
        || u8::from(position.orientation) != *orientation
    {
        return Some(format!("{:?} {position:?}", frame.description));
    }
    let rgb = rgb(frame);
    for (channel, expected) in mean.iter().enumerate() {
        let values = rgb.iter().skip(channel).step_by(3);
        let sum: f64 = values.map(|&value| f64::from(value)).sum();
        let actual = sum / (rgb.len() / 3) as f64;
        if (actual - expected).abs() > 1.0 {
            return Some(format!("mean {channel} is {actual}, not {expected}"));
        }
    }
    for &[x, y, red, green, blue] in samples {
        let at = (y * width + x) as usize * 3;
        let actual = &rgb[at..at + 3];
        let near =
            |(&actual, expected): (&u8, u32)| u32::from(actual).abs_diff(expected) <= TOLERANCE;
        if !actual.iter().zip([red, green, blue]).all(near) {
            return Some(format!(
                "({x}, {y}) is {actual:?}, not {red},{green},{blue}"
            ));
        }
    }
    None
}

#[test]
fn depth_grey_and_alpha_are_kept() {
    let edge = play(&mut *folder(&data("edge"), ""));
    let made = play(&mut *folder(&data("pictures"), ""));
    for (frames, name, sample, order) in [
        (&edge, "gray16.png", SampleType::U16, PixelOrder::Gray),
        (&edge, "rgb16.png", SampleType::U16, PixelOrder::Rgb),
        (&edge, "gray8.jpg", SampleType::U8, PixelOrder::Gray),
        (&edge, "gray_alpha.png", SampleType::U8, PixelOrder::Rgba),
        (&edge, "bilevel.png", SampleType::U8, PixelOrder::Gray),
        (&edge, "palette.png", SampleType::U8, PixelOrder::Rgb),
        (
            &edge,
            "palette_transparent.png",
            SampleType::U8,
            PixelOrder::Rgba,
        ),
        (&edge, "cmyk.jpg", SampleType::U8, PixelOrder::Rgb),
        (&made, "gray16.tif", SampleType::U16, PixelOrder::Gray),
        (&made, "rgba16.ff", SampleType::U16, PixelOrder::Rgba),
        (&made, "float.hdr", SampleType::F32, PixelOrder::Rgb),
        (&made, "float.exr", SampleType::F32, PixelOrder::Rgb),
    ] {
        let description = frames.frames[name].description;
        assert_eq!(
            (description.sample, description.order),
            (sample, order),
            "{name}"
        );
    }
    // "16-bit grey, 128x64, ramp 0..65535 left to right" (edge-index.json).
    let ramp = &edge.frames["gray16.png"].pixels[..256];
    assert_eq!(ramp[..2], 0u16.to_ne_bytes());
    assert_eq!(ramp[254..], 65535u16.to_ne_bytes());
}

#[test]
fn photographs_stored_turned_are_upright() {
    // Case C24: stored 64x32, left red, right blue.
    let played = play(&mut *folder(&data("cases"), ""));
    for extension in ["jpg", "png"] {
        for (tag, size, [red_x, red_y], [blue_x, blue_y]) in [
            (1, [64, 32], [5, 16], [58, 16]),
            (3, [64, 32], [58, 16], [5, 16]),
            (6, [32, 64], [16, 5], [16, 58]),
            (8, [32, 64], [16, 58], [16, 5]),
        ] {
            let frame = &played.frames[&format!("exif{tag}.{extension}")];
            let description = frame.description;
            assert_eq!([description.width, description.height], size, "tag {tag}");
            let rgb = rgb(frame);
            let pixel = |x: u32, y: u32| &rgb[((y * description.width + x) * 3) as usize..][..3];
            let (red, blue) = (pixel(red_x, red_y), pixel(blue_x, blue_y));
            assert!(red[0] > 200 && red[2] < 50, "tag {tag}: {red:?}");
            assert!(blue[2] > 200 && blue[0] < 50, "tag {tag}: {blue:?}");
        }
    }
}

#[test]
fn a_picture_that_is_cut_off_is_never_shown() {
    let folder_ = tempfile::tempdir().expect("a folder");
    let mut cut = 0;
    for (key, expected) in expected_pictures() {
        let (set, name) = key.split_once('/').expect("a set");
        if matches!(expected, Expected::Refused { .. })
            || REFUSED.iter().any(|(name, _)| *name == key)
        {
            continue;
        }
        let bytes = fs::read(data(&key)).expect("a picture");
        for (part, length) in [("half", bytes.len() / 2), ("most", bytes.len() * 9 / 10)] {
            // The extension stays, as some formats are known by it.
            let name = folder_.path().join(format!("{part}_{set}_{name}"));
            fs::write(name, &bytes[..length]).expect("a file");
            cut += 1;
        }
    }
    let played = play(&mut *folder(folder_.path(), ""));
    let shown: Vec<&str> = played.frames.keys().map(String::as_str).collect();
    // The first frame or page of these is whole, or the pixels are and what is cut stands behind.
    let whole = [
        "half_edge_animated.gif",
        "half_edge_multipage.tif",
        "most_edge_animated.gif",
        "most_edge_multipage.tif",
        "most_pictures_exif6_late.png",
    ];
    assert_eq!(shown, whole);
    assert_eq!(played.skipped.len(), cut - whole.len());
}

#[test]
fn gigantic_pictures_are_refused_with_their_size_and_the_limit() {
    // Case C28, and the same of edge/.
    for (file, size, needed) in [
        ("cases/huge1bit.png", "20000x20000", "400,000,000"),
        ("cases/forged.png", "60000x60000", "10,800,000,000"),
        (
            "edge/bomb_header_60000x60000.png",
            "60000x60000",
            "10,800,000,000",
        ),
        (
            "edge/bomb_real_30000x30000_1bit.png",
            "30000x30000",
            "900,000,000",
        ),
        (
            "edge/bomb_header_65500x65500.jpg",
            "65500x65500",
            "12,870,750,000",
        ),
    ] {
        let error = source::open(&format!("image:{}", data(file).display()))
            .err()
            .expect(file)
            .to_string();
        for words in [size, needed, "268,435,456", "max_bytes"] {
            assert!(error.contains(words), "{file}: {error}");
        }
    }
    let played = play(&mut *folder(&data("cases"), ""));
    for name in ["huge1bit.png", "forged.png"] {
        assert!(played.skipped[name].contains("268,435,456"), "{name}");
    }
    let address = format!(
        "image:{}?max_bytes=500000000",
        data("cases/huge1bit.png").display()
    );
    let source = source::open(&address).expect("a picture under the raised limit");
    assert_eq!(source.info().largest.pixel_bytes(), 400_000_000);
}
