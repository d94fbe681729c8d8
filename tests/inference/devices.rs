//! What the model card says, and where a model runs.

use super::*;

#[test]
fn the_card_says_what_is_in_force_and_what_ran() {
    let Some(library) = library() else { return };
    let spec = spec("models/efficientnet_lite0.onnx");
    let runner = load(&spec, library).expect("a model");
    let card = runner.card();
    // sha256sum of the file, from models/README or the shell.
    assert_eq!(card.sha256.len(), 64);
    assert_eq!(card.bytes, 18_570_464);
    assert_eq!(
        (card.task.value.as_str(), card.task.origin),
        ("classify", Origin::Metadata)
    );
    assert_eq!((card.labels.as_str(), card.label_count), ("metadata", 1000));
    assert_eq!(card.inputs[0].shape, ["N", "3", "224", "224"]);
    assert_eq!(card.preprocess.resize, Resize::ShortestCrop);
    assert_eq!(card.preprocess.filter, Filter::PilBicubic);
    assert_eq!(card.preprocess.mean, [127.0; 3]);
    assert_eq!(card.preprocess.std, [128.0; 3]);
    assert_eq!(card.preprocess_origins["mean"], Origin::Metadata);
    assert_eq!(card.provider.provider, "CPU");
    assert_eq!(card.provider.reason, None);
    // ONNX Runtime in Python: 94 nodes before fusion, 53 kernels in a profile.
    assert_eq!(card.provider.assigned.get("CPU"), Some(&94));
    assert!(matches!(
        card.provider.executed.get("CPU"),
        Some(ExecutedKernels {
            kernels: 53,
            micros: 1..
        })
    ));
    assert_eq!(card.provider.copies, 0);
}

#[test]
fn a_gpu_that_is_not_there_is_said_and_strict_refuses() {
    let Some(library) = library() else { return };
    if ringside::consumer::Target::Cuda(0).is_built_in() {
        eprintln!("skipped: this ONNX Runtime has CUDA");
        return;
    }
    for (device, strict, fits) in [
        (DeviceChoice::Auto, false, true),
        (DeviceChoice::Auto, true, true),
        (DeviceChoice::Cuda(0), false, true),
        (DeviceChoice::TensorRt(0), false, true),
        (DeviceChoice::Cuda(0), true, false),
        (DeviceChoice::TensorRt(0), true, false),
    ] {
        let spec = ModelSpec {
            device,
            strict,
            ..spec("tests/data/cases/mean.onnx")
        };
        match load(&spec, library) {
            Ok(runner) => {
                assert!(fits, "{device} strict");
                let report = &runner.card().provider;
                assert_eq!(report.asked, device.to_string());
                assert_eq!(report.provider, "CPU");
                let reason = report.reason.as_deref().expect("a reason");
                assert!(reason.contains("built without CUDA"), "{reason}");
                assert!(report.executed.keys().eq(["CPU"]), "{report:?}");
                let notices = &runner.model().notices;
                assert!(
                    notices
                        .iter()
                        .any(|notice| notice.code == "device_fallback")
                );
            }
            Err(failure) => {
                assert!(!fits, "{device}: {failure}");
                assert_eq!(failure.problem.code, "device_unavailable");
                assert_eq!(failure.exit_status(), 5);
                let asked = device.to_string();
                assert!(failure.problem.message.contains(&asked), "{failure}");
            }
        }
    }
}
