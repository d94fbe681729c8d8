use super::Cause;
use crate::consumer::device::plain_reason;

/// What ONNX Runtime's message about a model that does not load means.
///
/// The newest supported versions are taken from its message: they depend on the library.
pub(super) fn explain(message: &str) -> Cause {
    if let Some((found, supported)) = message
        .split_once("Unsupported model IR version: ")
        .and_then(|(_, rest)| rest.split_once(", max supported IR version: "))
    {
        return Cause::IrTooNew {
            found: leading_number(found),
            supported: leading_number(supported),
        };
    }
    if let Some((_, rest)) = message.split_once("Opset ")
        && let Some((_, domain)) = rest.split_once("support for domain ")
        && let Some((domain, supported)) = domain.split_once(" is till opset ")
    {
        return Cause::OpsetTooNew {
            domain: domain.to_owned(),
            found: leading_number(rest),
            supported: leading_number(supported),
        };
    }
    if let Some((operator, _)) = message
        .split_once("Fatal error: ")
        .and_then(|(_, rest)| rest.split_once(" is not a registered function/op"))
    {
        // "my_ops:DCNv2(-1)": the version that was looked for follows the name.
        let name = operator.split('(').next().unwrap_or(operator);
        return Cause::UnknownOperator(name.to_owned());
    }
    if let Some((_, rest)) = message.split_once("No Op registered for ") {
        let name = rest.split_whitespace().next().unwrap_or(rest);
        return Cause::UnknownOperator(name.to_owned());
    }
    let text = message
        .split_once(" failed:")
        .filter(|(before, _)| before.contains("Load model from"))
        .map_or(message, |(_, text)| text);
    Cause::Refused(plain_reason(text))
}

fn leading_number(text: &str) -> u64 {
    let digits = text
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(text.len());
    text[..digits].parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Messages of ONNX Runtime 1.31.1 for the files of tests/data.
    #[test]
    fn messages_of_onnx_runtime_become_causes() {
        for (message, expected) in [
            (
                "Load model from ir99.onnx failed:/onnxruntime_src/onnxruntime/core/graph/model.cc:256 onnxruntime::Model::Model(onnx::ModelProto&&, const onnxruntime::ModelOptions&) Unsupported model IR version: 99, max supported IR version: 13\n",
                "IR version 99 is above 13, the newest that this ONNX Runtime supports",
            ),
            (
                "Load model from opset99.onnx failed:/onnxruntime_src/onnxruntime/core/graph/model_load_utils.h:46 void onnxruntime::model_load_utils::ValidateOpsetForDomain(const std::string&, int) ONNX Runtime only *guarantees* support for models stamped with official released onnx opset versions. Opset 99 is under development and support for this is limited. The operator schemas and or other functionality may change before next ONNX release and in this case ONNX Runtime will not guarantee backward compatibility. Current official support for domain ai.onnx is till opset 26.\n",
                "opset 99 of ai.onnx is above 26, the newest that this ONNX Runtime supports",
            ),
            (
                "Load model from customop.onnx failed:Fatal error: my_ops:DCNv2(-1) is not a registered function/op",
                "operator my_ops:DCNv2 is not known to this ONNX Runtime",
            ),
            (
                "Load model from u.onnx failed:This is an invalid model. In Node, (\"\", NoSuchOp, \"\", -1) : (\"images\": tensor(float),) -> (\"y\": tensor(float),) , Error No Op registered for NoSuchOp with domain_version of 17",
                "operator NoSuchOp is not known to this ONNX Runtime",
            ),
            (
                "Load model from d.onnx failed:Invalid model. Node input 'nowhere' is not a graph input, initializer, or output of a previous node.",
                "ONNX Runtime refuses it: Invalid model. Node input 'nowhere' is not a graph input, initializer, or output of a previous node.",
            ),
            (
                "Load model from s.onnx failed:Node () Op (MatMul) [ShapeInferenceError] Incompatible dimensions for matrix multiplication",
                "ONNX Runtime refuses it: Node () Op (MatMul) [ShapeInferenceError] Incompatible dimensions for matrix multiplication",
            ),
        ] {
            assert_eq!(explain(message).to_string(), expected);
        }
    }
}
