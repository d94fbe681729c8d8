use ort::ep::{self, ExecutionProvider, ExecutionProviderDispatch};

use crate::protocol::DeviceChoice;

/// An execution provider that a session can be built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The CPU.
    Cpu,
    /// This CUDA device.
    Cuda(u32),
    /// This CUDA device through TensorRT; what that cannot run goes to CUDA.
    TensorRt(u32),
}

impl Target {
    /// What to try for `choice`, best first; the CPU last unless `strict`.
    pub fn candidates(choice: DeviceChoice, strict: bool) -> Vec<Self> {
        let mut targets = match choice {
            DeviceChoice::Cpu => vec![],
            DeviceChoice::Auto => vec![Self::Cuda(0)],
            DeviceChoice::Cuda(number) => vec![Self::Cuda(number)],
            DeviceChoice::TensorRt(number) if strict => vec![Self::TensorRt(number)],
            DeviceChoice::TensorRt(number) => vec![Self::TensorRt(number), Self::Cuda(number)],
        };
        // `auto` names no device that could be insisted on.
        if !strict || matches!(choice, DeviceChoice::Cpu | DeviceChoice::Auto) {
            targets.push(Self::Cpu);
        }
        targets
    }

    /// Name as shown and as in rows: `CPU`, `CUDA`, `TensorRT`.
    pub const fn provider(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            Self::Cuda(_) => "CUDA",
            Self::TensorRt(_) => "TensorRT",
        }
    }

    /// Number of the CUDA device; `None` for the CPU.
    pub const fn number(self) -> Option<u32> {
        match self {
            Self::Cpu => None,
            Self::Cuda(number) | Self::TensorRt(number) => Some(number),
        }
    }

    /// Key of the ring's lock for turns: 0 the CPU, 1 + N CUDA device N.
    pub const fn turn_key(self) -> u32 {
        match self.number() {
            None => 0,
            Some(number) => 1 + number,
        }
    }

    /// Whether the loaded ONNX Runtime was built with this provider.
    pub fn is_built_in(self) -> bool {
        let available = match self {
            Self::Cpu => return true,
            Self::Cuda(_) => ep::CUDA::is_available(),
            Self::TensorRt(_) => ep::TensorRT::is_available(),
        };
        // The query fails only when ONNX Runtime is out of memory; registering will say so.
        available.unwrap_or(true)
    }

    /// The providers to register; a failure to register any of them is an error.
    pub fn providers(self, arena: bool) -> Vec<ExecutionProviderDispatch> {
        let cuda = |number: u32| {
            ep::CUDA::default()
                .with_device_id(device_id(number))
                .build()
                .error_on_failure()
        };
        let mut providers = match self {
            Self::Cpu => vec![],
            Self::Cuda(number) => vec![cuda(number)],
            Self::TensorRt(number) => {
                let tensorrt = ep::TensorRT::default().with_device_id(device_id(number));
                vec![tensorrt.build().error_on_failure(), cuda(number)]
            }
        };
        let cpu = ep::CPU::default().with_arena_allocator(arena);
        providers.push(cpu.build().error_on_failure());
        providers
    }
}

fn device_id(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// `CPU` for ONNX Runtime's `CPUExecutionProvider`, and so on.
pub(super) fn short_provider_name(name: &str) -> &str {
    match name.strip_suffix("ExecutionProvider").unwrap_or(name) {
        "Tensorrt" => "TensorRT",
        short => short,
    }
}

/// One line of ONNX Runtime's message, without the paths and signatures of its C++ sources.
pub(super) fn plain_reason(message: &str) -> String {
    let line = message
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or("no reason given");
    // "… /onnxruntime_src/…/file.cc:123 void onnxruntime::f(…) text": the text follows the status
    // code, where there is one, else the closing bracket of the signature.
    let text = match (
        line.rsplit_once("[ONNXRuntimeError] : "),
        line.find("/onnxruntime_src/"),
    ) {
        (Some((_, status)), _) => status.splitn(3, " : ").last().unwrap_or(status),
        (None, Some(source)) => line[source..]
            .rsplit_once(") ")
            .map_or(&line[source..], |(_, text)| text),
        (None, None) => line,
    };
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_strict_choices_do_without_the_cpu() {
        use Target::{Cpu, Cuda, TensorRt};
        for (choice, strict, expected) in [
            ("cpu", false, vec![Cpu]),
            ("cpu", true, vec![Cpu]),
            ("auto", false, vec![Cuda(0), Cpu]),
            ("auto", true, vec![Cuda(0), Cpu]),
            ("cuda:2", false, vec![Cuda(2), Cpu]),
            ("cuda:2", true, vec![Cuda(2)]),
            ("tensorrt:1", false, vec![TensorRt(1), Cuda(1), Cpu]),
            ("tensorrt:1", true, vec![TensorRt(1)]),
        ] {
            let choice = choice.parse().expect(choice);
            assert_eq!(Target::candidates(choice, strict), expected, "{choice}");
        }
    }

    // Messages of ONNX Runtime 1.31.1.
    #[test]
    fn reasons_name_no_cpp_sources() {
        assert_eq!(
            plain_reason(
                "/onnxruntime_src/onnxruntime/core/session/provider_bridge_ort.cc:2249 \
                 onnxruntime::Provider& onnxruntime::ProviderLibrary::Get() \
                 [ONNXRuntimeError] : 1 : FAIL : Failed to load library x.so with error: \
                 libcudnn.so.9: cannot open shared object file\n"
            ),
            "Failed to load library x.so with error: \
             libcudnn.so.9: cannot open shared object file"
        );
        assert_eq!(
            plain_reason("CUDA execution provider is not enabled in this build. "),
            "CUDA execution provider is not enabled in this build."
        );
    }

    #[test]
    fn provider_names_are_short() {
        for (name, short) in [
            ("CPUExecutionProvider", "CPU"),
            ("CUDAExecutionProvider", "CUDA"),
            ("TensorrtExecutionProvider", "TensorRT"),
            ("other", "other"),
        ] {
            assert_eq!(short_provider_name(name), short);
        }
    }
}
