use std::collections::BTreeMap;
use std::io::{self, Read};

use serde::Deserialize;

use super::device::short_provider_name;
use crate::protocol::ExecutedKernels;

/// What one profiled run executed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Executed {
    /// Kernels and their time, by provider.
    pub kernels: BTreeMap<String, ExecutedKernels>,
    /// Copies between devices.
    pub copies: u32,
}

/// One entry of ONNX Runtime's profile, a Chrome trace.
#[derive(Debug, Deserialize)]
struct TraceEvent {
    #[serde(default)]
    cat: String,
    #[serde(default)]
    name: String,
    /// Start, in microseconds since profiling began.
    #[serde(default)]
    ts: u64,
    /// Duration, in microseconds.
    #[serde(default)]
    dur: u64,
    #[serde(default)]
    args: TraceArguments,
}

#[derive(Debug, Default, Deserialize)]
struct TraceArguments {
    #[serde(default)]
    op_name: String,
    #[serde(default)]
    provider: String,
}

/// Operators that move tensors between a device and the host.
const COPY_OPERATORS: [&str; 2] = ["MemcpyToHost", "MemcpyFromHost"];

impl Executed {
    /// Reads the last run of the profile that ONNX Runtime wrote.
    ///
    /// # Errors
    /// It cannot be read or is not a profile.
    pub(super) fn read(profile: impl Read) -> io::Result<Self> {
        let text = io::read_to_string(profile)?;
        Ok(Self::from_events(&serde_json::from_str::<Vec<_>>(&text)?))
    }

    fn from_events(events: &[TraceEvent]) -> Self {
        let mut executed = Self::default();
        let runs = events.iter().filter(|event| event.name == "model_run");
        let last_run = runs.map(|event| event.ts).max().unwrap_or(0);
        for event in events.iter().filter(|event| event.ts >= last_run) {
            // A kernel's own time; GPU profilers add events of category "Kernel" for parts of it.
            if event.cat != "Node" || !event.name.ends_with("_kernel_time") {
                continue;
            }
            let provider = short_provider_name(&event.args.provider).to_owned();
            let kernels = executed.kernels.entry(provider).or_default();
            kernels.kernels += 1;
            kernels.micros += event.dur;
            executed.copies += u32::from(COPY_OPERATORS.contains(&event.args.op_name.as_str()));
        }
        executed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Lines of a profile that ONNX Runtime 1.31.1 wrote; the CUDA ones by hand after its source,
    // onnxruntime/core/framework/sequential_executor.cc.
    const PROFILE: &str = r#"[
{"cat" : "Session","pid" :1,"tid" :1,"dur" :212,"ts" :3,"ph" : "X","name" :"model_loading_uri","args" : {}},
{"cat" : "Node","pid" :1,"tid" :1,"dur" :9000,"ts" :5,"ph" : "X","name" :"Conv_0_kernel_time","args" : {"op_name" : "Conv","provider" : "CUDAExecutionProvider"}},
{"cat" : "Session","pid" :1,"tid" :1,"dur" :9100,"ts" :4,"ph" : "X","name" :"model_run","args" : {}},
{"cat" : "Node","pid" :1,"tid" :1,"dur" :0,"ts" :9,"ph" : "X","name" :"Conv_0_fence_before","args" : {"op_name" : "Conv"}},
{"cat" : "Node","pid" :1,"tid" :1,"dur" :40,"ts" :9,"ph" : "X","name" :"Memcpy_kernel_time","args" : {"op_name" : "MemcpyFromHost","provider" : "CUDAExecutionProvider"}},
{"cat" : "Node","pid" :1,"tid" :1,"dur" :500,"ts" :9,"ph" : "X","name" :"Conv_0_kernel_time","args" : {"op_name" : "Conv","provider" : "CUDAExecutionProvider"}},
{"cat" : "Kernel","pid" :1,"tid" :1,"dur" :450,"ts" :9,"ph" : "X","name" :"cudnn_conv","args" : {"op_name" : "Conv_0"}},
{"cat" : "Node","pid" :1,"tid" :1,"dur" :7,"ts" :9,"ph" : "X","name" :"Gather_1_kernel_time","args" : {"op_name" : "Gather","provider" : "CPUExecutionProvider","output_type_shape" : [{"float":[1,3]}]}},
{"cat" : "Session","pid" :1,"tid" :1,"dur" :600,"ts" :8,"ph" : "X","name" :"model_run","args" : {}}
]"#;

    #[test]
    fn kernels_time_and_copies_are_added_up_by_provider() {
        let events: Vec<TraceEvent> = serde_json::from_str(PROFILE).expect("a profile");
        let executed = Executed::from_events(&events);
        let expected = [
            (
                "CPU".to_owned(),
                ExecutedKernels {
                    kernels: 1,
                    micros: 7,
                },
            ),
            (
                "CUDA".to_owned(),
                ExecutedKernels {
                    kernels: 2,
                    micros: 540,
                },
            ),
        ];
        assert_eq!(executed.kernels, BTreeMap::from(expected));
        assert_eq!(executed.copies, 1);
    }
}
