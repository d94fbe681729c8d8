//! Clocks and warm-up.

use super::*;

#[test]
fn c51_a_step_of_the_wall_clock_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = folder.path().join("clk.so");
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(data("cases/clk.c"))
        .args(["-ldl"])
        .status();
    assert!(
        built.is_ok_and(|status| status.success()),
        "the C compiler that Rust links with builds the clock"
    );
    let session = session_file(
        folder.path(),
        "source = \"pattern:stamp?size=320x240&fps=60&frames=300\"\ndelivery = \"every\"",
        &[("frameid", "cases/frameid.onnx")],
    );
    let finished = finish(
        ringside(["run", "--json"])
            .arg(session)
            .env("LD_PRELOAD", library),
    );
    assert_eq!(finished.code(), 0, "{}", finished.stderr);
    let rows = finished.rows();
    let longest = (finished.seconds * 1e6) as u64;
    let answers = predictions(&rows);
    assert_eq!(answers.len(), 300);
    for row in answers {
        for (stage, micros) in row.micros.stages() {
            assert!(
                micros < longest,
                "{stage} took {micros} µs in a run of {longest}"
            );
        }
    }
    assert!(summary(&rows).seconds < finished.seconds);
}

#[test]
fn c51_the_first_run_is_marked_and_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = session_file(
        folder.path(),
        "source = \"pattern:stamp?size=320x240&frames=20\"\ndelivery = \"every\"",
        &[("slow", "cases/slow.onnx")],
    );
    let finished = finish(ringside(["run", "--json"]).arg(session));
    let rows = finished.rows();
    let answers = predictions(&rows);
    let mut inference: Vec<u64> = answers
        .iter()
        .filter(|row| !row.warmup)
        .map(|row| row.micros.inference)
        .collect();
    assert!(
        inference.len() < answers.len(),
        "no run is marked as warm-up"
    );
    inference.sort_unstable();
    let stats = totals(&rows, "slow").micros["inference"];
    let max = *inference.last().expect("answers");
    // The histogram keeps three significant digits.
    assert!(
        stats.max.abs_diff(max) <= max / 500,
        "{} is not {max}",
        stats.max
    );
}
