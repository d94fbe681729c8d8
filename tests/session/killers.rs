//! Files that kill the producer.

use std::fs;
use std::path::Path;
use std::process::Command;

use ringside::recording::Row;
use ringside::session::SessionExit;

use super::harness::{data, model, spec, start};
use super::{answers, frames};

/// Plays a folder of twelve pictures of which number `killer` ends the producer whenever it is
/// decoded.
fn play_with_a_killer(killer: u64) {
    let pictures = tempfile::tempdir().expect("a folder");
    for number in 0..12 {
        let picture = pictures.path().join(format!("{number}.png"));
        fs::copy(data("cases/grey200.png"), picture).expect("a copy");
    }
    let script = |folder: &Path| {
        let library = folder.join("killer.so");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/session/killer.c");
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-o"])
            .arg(&library)
            .args([source, "-ldl"])
            .status();
        assert!(
            built.is_ok_and(|status| status.success()),
            "cc, with which Rust links"
        );
        Some(format!(
            r#"case "$1" in produce) export KILLER=/{killer}.png LD_PRELOAD={};; esac"#,
            library.display()
        ))
    };
    let source = format!("folder:{}", pictures.path().display());
    let run = start(spec(&source, vec![model("m", "mean.onnx")]), script, |_| {});
    let outcome = run.session.wait();
    assert_eq!(outcome.exit, SessionExit::Done, "{outcome:?}");
    let rows = run.rows.all();
    let expected: Vec<(u64, u64)> = (1..)
        .zip((0..12).filter(|&index| index != killer))
        .collect();
    assert_eq!(frames(&rows), expected);
    assert_eq!(answers(&rows, "m"), (1..=11).collect::<Vec<u64>>());
    let skipped: Vec<_> = rows
        .iter()
        .filter_map(|row| match row {
            Row::Skipped(skipped) => Some((
                skipped.source_index,
                skipped.path.clone(),
                skipped.reason.clone(),
            )),
            _ => None,
        })
        .collect();
    let [(index, Some(path), reason)] = &skipped[..] else {
        panic!("{skipped:?}")
    };
    assert_eq!((*index, path.as_str()), (killer, &*format!("{killer}.png")));
    // abort() raises signal 6.
    assert!(reason.contains("signal 6"), "{reason}");
}

#[test]
fn a_file_that_kills_the_decoder_is_left_out_and_everything_else_is_shown_once() {
    play_with_a_killer(5);
}

#[test]
fn the_first_file_may_kill_the_decoder_as_well() {
    play_with_a_killer(0);
}
