//! Models, runs and libraries that fail say why.

use super::*;

#[test]
fn nan_and_failing_runs_are_invalid_answers_and_the_next_one_is_right() {
    let Some(library) = library() else { return };
    let mut runner = load(&spec("tests/data/synthetic/nan_output.onnx"), library).expect("a model");
    assert_eq!(
        answer(&mut runner, solid(32, 32, [9; 3])),
        Output::Invalid {
            reason: "3 NaN in output `logits`".to_owned()
        }
    );
    let spec = scores("tests/data/synthetic/runtime_error.onnx");
    let mut runner = load(&spec, library).expect("a model");
    for _ in 0..2 {
        let Output::Invalid { reason } = answer(&mut runner, solid(32, 32, [255; 3])) else {
            panic!("it cannot run");
        };
        assert!(
            reason.contains("indices element out of data bounds"),
            "{reason}"
        );
        let black = answer(&mut runner, solid(32, 32, [0; 3]));
        assert!(matches!(black, Output::Classes { .. }), "{black:?}");
    }
}

#[test]
fn models_that_do_not_load_are_explained() {
    let Some(library) = library() else { return };
    for (model, code, words) in [
        // C14
        ("cases/ir99.onnx", "model_ir", "IR version 99 is above"),
        (
            "cases/opset99.onnx",
            "model_opset",
            "opset 99 of ai.onnx is above",
        ),
        ("cases/customop.onnx", "model_operator", "my_ops:DCNv2"),
        ("cases/lfs.onnx", "model_not_onnx", "Git LFS pointer"),
        ("cases/empty.onnx", "model_not_onnx", "empty"),
        (
            "synthetic/broken_truncated.onnx",
            "model_not_onnx",
            "cut off",
        ),
        ("synthetic/broken_empty.onnx", "model_not_onnx", "empty"),
        ("synthetic/broken_text.onnx", "model_not_onnx", "text file"),
        ("synthetic/broken_html.onnx", "model_not_onnx", "HTML"),
        (
            "synthetic/broken_lfs_pointer.onnx",
            "model_not_onnx",
            "Git LFS",
        ),
        (
            "synthetic/broken_unknown_op.onnx",
            "model_operator",
            "NoSuchOp",
        ),
        ("synthetic/broken_dangling.onnx", "model_invalid", "nowhere"),
        ("synthetic/broken_opset.onnx", "model_opset", "opset 999"),
        (
            "synthetic/broken_external_missing.onnx",
            "model_weights",
            "missing_weights.bin",
        ),
        (
            "synthetic/broken_external_escape.onnx",
            "model_weights",
            "outside the model's folder",
        ),
        (
            "synthetic/broken_shapes.onnx",
            "model_invalid",
            "Incompatible dimensions",
        ),
        (
            "synthetic/multi_io.onnx",
            "model_input",
            "2 inputs: `a` f32 [?,4], `b` f32 [?,4]",
        ),
        ("synthetic/odd_names.onnx", "model_input", "[?,6,8,8]"),
        ("synthetic/external_ok.onnx", "model_input", "`x` f32 [?,3]"),
        ("synthetic/nowhere.onnx", "model_missing", "No such file"),
    ] {
        let file = format!("tests/data/{model}");
        let failure = load(&spec(&file), library).err().expect(model);
        let problem = &failure.problem;
        assert_eq!(problem.code, code, "{}", problem.message);
        assert!(
            problem.message.contains(words),
            "{model}: {}",
            problem.message
        );
        let name = model.rsplit('/').next().expect("a name");
        assert!(problem.message.contains(name), "{}", problem.message);
        assert!(!problem.message.contains('\n'), "{}", problem.message);
        assert!(
            !problem.message.contains("onnxruntime_src"),
            "{}",
            problem.message
        );
        assert!(problem.hint.is_some(), "{model}");
        assert_eq!(failure.exit_status(), 4);
    }
}

#[test]
fn a_file_that_is_no_onnx_runtime_is_one_clear_error() {
    let needed = ringside::runtime::Version::NEEDED.to_string();
    let text = root("README.md");
    for path in [
        Path::new("/nonexistent.so"),
        Path::new("/"),
        Path::new("/lib/x86_64-linux-gnu/libm.so.6"),
        Path::new("/dev/null"),
        text.as_path(),
    ] {
        let Err(error) = Library::load(Some(path)) else {
            panic!("{} was loaded", path.display());
        };
        let failure = Failure::from(error);
        assert_eq!(failure.exit_status(), 5);
        let message = &failure.problem.message;
        assert!(message.contains(&needed), "{message}");
        assert!(message.contains(&path.display().to_string()), "{message}");
    }
}
