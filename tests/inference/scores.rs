//! What a classifier's numbers are is decided once for a model. Expected numbers are ONNX Runtime's in
//! Python and NumPy's (tests/data/models/scores.json, made by make_scores.py).

use ringside::protocol::{ClassScores, ScoreMeaning};

use super::*;

fn scores_spec(end: &str) -> ModelSpec {
    ModelSpec {
        layout: "auto".to_owned(),
        ..scores(&format!("tests/data/models/scores_{end}.onnx"))
    }
}

fn found(runner: &Runner) -> &ClassScores {
    runner.card().scores.as_ref().expect("it is known")
}

/// Answers all colours of `end` and compares them with `key` of the expected numbers.
fn compare(runner: &mut Runner, end: &str, key: &str) {
    let expected = json("tests/data/models/scores.json");
    for case in expected[end].as_array().expect("cases") {
        let colour: Vec<u8> = numbers(&case["rgb"]).iter().map(|&n| n as u8).collect();
        let output = answer(runner, solid(20, 20, [colour[0], colour[1], colour[2]]));
        println!("{end} {colour:?}: {:?}", by_class(&output));
        assert_near(&by_class(&output), &numbers(&case[key]), 1e-5);
        let Output::Classes { classes, .. } = &output else {
            panic!("classes");
        };
        let mut values = vec![f64::NAN; 3];
        for class in classes {
            values[class.id as usize] = f64::from(class.value);
        }
        assert_near(&values, &numbers(&case["values"]), 1e-5);
    }
}

#[test]
fn an_output_that_is_a_softmax_gets_no_other() {
    let Some(library) = library() else { return };
    let expected = json("tests/data/synthetic/expected.json");
    let spec = spec("tests/data/synthetic/softmaxed.onnx");
    let mut spec = ModelSpec { top: 3, ..spec };
    spec.preprocess.preset = Some("raw".to_owned());
    let mut runner = load(&spec, library).expect("a model");
    let output = answer(&mut runner, solid(32, 32, [255, 0, 0]));
    let expected = numbers(&expected["softmaxed"]["case"]["probs"]);
    assert_near(&by_class(&output), &expected, 1e-5);
}

#[test]
fn a_row_of_logits_that_sums_to_one_gets_the_softmax_of_its_model() {
    let Some(library) = library() else { return };
    let mut runner = load(&scores_spec("gemm"), library).expect("a model");
    assert_eq!(
        (found(&runner).are, found(&runner).origin),
        (ScoreMeaning::Logits, Origin::Graph)
    );
    assert_eq!(found(&runner).evidence, "Gemm makes output `scores`");
    compare(&mut runner, "gemm", "probabilities");

    // Its graph ends in a mean; what it says of a black picture, 0 for each class, is no softmax.
    let spec = ModelSpec {
        layout: "auto".to_owned(),
        ..scores("tests/data/cases/mean.onnx")
    };
    let mut runner = load(&spec, library).expect("a model");
    assert_eq!(
        (found(&runner).are, found(&runner).origin),
        (ScoreMeaning::Logits, Origin::Answers)
    );
    let output = answer(&mut runner, solid(32, 32, [51, 102, 102]));
    // scipy.special.softmax([0.2, 0.4, 0.4])
    assert_near(&by_class(&output), &[0.290_461, 0.354_769, 0.354_769], 1e-5);
}

#[test]
fn a_softmax_at_the_end_of_the_graph_is_found_behind_what_only_hands_on() {
    let Some(library) = library() else { return };
    let mut runner = load(&scores_spec("softmax"), library).expect("a model");
    assert_eq!(
        (found(&runner).are, found(&runner).origin),
        (ScoreMeaning::Probabilities, Origin::Graph)
    );
    assert_eq!(found(&runner).evidence, "Softmax makes output `scores`");
    compare(&mut runner, "softmax", "probabilities");
    let mut runner = load(&scores_spec("log"), library).expect("a model");
    assert_eq!(found(&runner).are, ScoreMeaning::Logits);
    compare(&mut runner, "log", "probabilities");
    let mut runner = load(&scores_spec("sigmoid"), library).expect("a model");
    assert_eq!(found(&runner).are, ScoreMeaning::Scores);
    compare(&mut runner, "sigmoid", "values");
}

#[test]
fn where_the_graph_does_not_tell_the_answers_do_and_one_counter_example_settles_it() {
    let Some(library) = library() else { return };
    let mut runner = load(&scores_spec("by_hand"), library).expect("a model");
    compare(&mut runner, "by_hand", "probabilities");
    assert_eq!(
        (found(&runner).are, found(&runner).origin),
        (ScoreMeaning::Probabilities, Origin::Answers)
    );

    let mut runner = load(&scores_spec("shifted"), library).expect("a model");
    assert_eq!(found(&runner).are, ScoreMeaning::Probabilities);
    let white = answer(&mut runner, solid(8, 8, [255; 3]));
    assert_eq!(
        (found(&runner).are, found(&runner).origin),
        (ScoreMeaning::Logits, Origin::Answers)
    );
    // scipy.special.softmax([1.2, 1.3, 1.5])
    assert_near(&by_class(&white), &[0.289_433, 0.319_873, 0.390_694], 1e-5);
    compare(&mut runner, "shifted", "probabilities");
}

#[test]
fn what_the_user_says_of_the_numbers_holds() {
    let Some(library) = library() else { return };
    for (layout, key, are) in [
        ("logits", "probabilities", ScoreMeaning::Logits),
        ("probabilities", "values", ScoreMeaning::Probabilities),
        ("scores", "values", ScoreMeaning::Scores),
    ] {
        let spec = ModelSpec {
            layout: layout.to_owned(),
            ..scores_spec("gemm")
        };
        let mut runner = load(&spec, library).expect("a model");
        compare(&mut runner, "gemm", key);
        assert_eq!(
            (found(&runner).are, found(&runner).origin),
            (are, Origin::You)
        );
        assert_eq!(runner.card().layout, layout);
    }
}
