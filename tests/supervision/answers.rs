//! Every answer belongs to its frame and its model.

use super::*;

#[test]
fn c49_every_answer_belongs_to_the_frame_it_was_computed_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = session_file(
        folder.path(),
        "source = \"pattern:stamp?size=320x240&fps=20&frames=60\"\ndelivery = \"every\"",
        &[
            ("frameid", "cases/frameid.onnx"),
            ("slow", "cases/slow.onnx"),
        ],
    );
    let finished = finish(ringside(["run", "--json"]).arg(session));
    assert_eq!(finished.code(), 0, "{}", finished.stderr);
    let rows = finished.rows();
    let frames: BTreeMap<u64, u64> = rows
        .iter()
        .filter_map(|row| match row {
            Row::Frame(frame) => Some((frame.seq, frame.source_index)),
            _ => None,
        })
        .collect();
    assert_eq!(frames.len(), 60);
    let answers = predictions(&rows);
    assert_eq!(answers.len(), 120);
    for row in answers {
        assert_eq!(
            top(row),
            label(frames[&row.seq]),
            "{} on frame {}",
            row.model,
            row.seq
        );
    }
    let [pair] = &summary(&rows).comparison[..] else {
        panic!("one pair")
    };
    assert_eq!((pair.frames, pair.agreement), (60, Some(1.0)));
}

#[test]
fn c01_no_torn_frame_is_ever_accepted() {
    let folder = tempfile::tempdir().expect("a folder");
    let (frames, snapshots_wanted) = (rounds(1_000, 100_000).into(), rounds(200, 500));
    let session = session_file(
        folder.path(),
        "source = \"pattern:stamp?size=1920x1080\"\ndelivery = \"live\"",
        &[("tear", "cases/tear.onnx"), ("slow", "cases/slow.onnx")],
    );
    let child = run_in_background(&session, &[]);
    let pid = child.id();
    let name = eventually("a ring", || {
        let rings = ringside::ring::list().expect("a list of rings");
        rings
            .into_iter()
            .find(|ring| ring.owner_pid == Some(pid))
            .map(|ring| ring.name)
    });
    let (mut snapshots, mut head) = (0, 0);
    {
        let mut preview = ringside::ring::Preview::attach(&name).expect("the ring");
        let mut frame = ringside::frame::Frame {
            description: ringside::frame::FrameDescription::packed(
                1,
                1,
                ringside::frame::SampleType::U8,
                ringside::frame::PixelOrder::Rgb,
            )
            .expect("a pixel"),
            position: ringside::frame::FramePosition::default(),
            pixels: Vec::new(),
        };
        while snapshots < snapshots_wanted || head < frames {
            let running = stat(pid).is_some_and(|stat| stat.state != 'Z');
            assert!(running, "the session ended by itself");
            if let Ok(Some(seq)) = preview.copy(None, &mut frame) {
                head = seq;
                let bytes = &frame.pixels[..frame.description.pixel_bytes()];
                let first = bytes[0];
                assert!(
                    bytes.iter().all(|&byte| byte == first),
                    "a snapshot is half old, half new"
                );
                assert_eq!(u64::from(first), 8 + 4 * (frame.position.source_index % 60));
                snapshots += 1;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    signal(pid, Signal::TERM);
    let finished = child.wait();
    assert_eq!(finished.code(), 130, "{}", finished.stderr);
    println!("{snapshots} snapshots of {head} frames");
    let rows = finished.rows();
    for model in ["tear", "slow"] {
        let mut answers = predictions(&rows).into_iter();
        assert!(answers.any(|row| row.model == model), "{model}");
    }
    let frames: BTreeMap<u64, u64> = rows
        .iter()
        .filter_map(|row| match row {
            Row::Frame(frame) => Some((frame.seq, frame.source_index)),
            _ => None,
        })
        .collect();
    for row in predictions(&rows) {
        let expected = if row.model == "tear" {
            "whole".to_owned()
        } else {
            label(frames[&row.seq])
        };
        assert_eq!(top(row), expected, "{} on frame {}", row.model, row.seq);
    }
}

#[test]
fn names_of_models_are_unique() {
    let cat = support::image(&root().join("assets/samples/cat.jpg"));
    let finished = run_json(
        &cat,
        &[&data("cases/mean.onnx"), &data("cases/mean.onnx")],
        &["--device", "cpu"],
    );
    assert_eq!(finished.code(), 0, "{}", finished.stderr);
    let rows = finished.rows();
    let names: BTreeSet<&str> = summary(&rows)
        .models
        .iter()
        .map(|model| model.name.as_str())
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
}
