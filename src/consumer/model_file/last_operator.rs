use super::proto::{GraphProto, NodeProto};

/// The operator that makes an output's numbers, and what numbers it makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastOperator {
    /// What it makes.
    pub makes: Makes,
    /// Its type, as `Gemm`; empty where the graph does not tell.
    pub operator: String,
    /// The output.
    pub output: String,
}

/// What an operator makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Makes {
    /// Probabilities over all classes: the end of a softmax.
    Probabilities,
    /// Logarithms of such probabilities, whose softmax they are again.
    LogProbabilities,
    /// A number from 0 to 1 for each class by itself.
    Independent,
    /// Weighted sums: logits.
    Sums,
    /// The graph does not tell.
    Unknown,
}

/// Operators that hand on what their first input holds, whatever its shape or type.
const HAND_ON: [&str; 9] = [
    "Identity",
    "Cast",
    "Reshape",
    "Flatten",
    "Squeeze",
    "Unsqueeze",
    "Dropout",
    "QuantizeLinear",
    "DequantizeLinear",
];

/// Most operators that are looked at; a graph that goes round in circles has no end.
const MOST_STEPS: usize = 100;

impl LastOperator {
    pub(super) fn of_first_output(graph: &GraphProto) -> Self {
        let output = graph.output.first().map(|output| output.name.clone());
        let output = output.unwrap_or_default();
        let (makes, operator) = maker(graph, &output);
        Self {
            makes,
            operator,
            output,
        }
    }
}

/// Goes back from tensor `name` to what makes its numbers.
fn maker(graph: &GraphProto, name: &str) -> (Makes, String) {
    let mut name = name;
    // A softmax that is scaled or shifted is none; a weighted sum stays one.
    let mut altered = false;
    for _ in 0..MOST_STEPS {
        let Some(node) = producer(graph, name) else {
            break;
        };
        let makes = match node.op_type.as_str() {
            operator if HAND_ON.contains(&operator) => {
                name = node.input.first().map_or("", String::as_str);
                continue;
            }
            "Add" | "Sub" | "Mul" | "Div" => {
                let Some(other) = other_than_constant(graph, node) else {
                    break;
                };
                name = other;
                altered = true;
                continue;
            }
            "Softmax" | "QLinearSoftmax" if !altered => Makes::Probabilities,
            "LogSoftmax" if !altered => Makes::LogProbabilities,
            "Sigmoid" | "QLinearSigmoid" if !altered => Makes::Independent,
            "Gemm" | "Conv" | "QGemm" | "QLinearConv" | "ConvInteger" => Makes::Sums,
            "MatMul" | "QLinearMatMul" | "MatMulInteger"
                if other_than_constant(graph, node).is_some() =>
            {
                Makes::Sums
            }
            _ => break,
        };
        return (makes, node.op_type.clone());
    }
    (Makes::Unknown, String::new())
}

fn producer<'a>(graph: &'a GraphProto, name: &str) -> Option<&'a NodeProto> {
    // Nodes stand in the order in which they run; the last ones are looked for.
    let mut nodes = graph.node.iter().rev();
    nodes.find(|node| !name.is_empty() && node.output.iter().any(|output| output == name))
}

/// The input of `node` that is computed, where exactly one is and the others are part of the model.
fn other_than_constant<'a>(graph: &GraphProto, node: &'a NodeProto) -> Option<&'a str> {
    let mut computed = node.input.iter().filter(|name| !is_constant(graph, name));
    let first = computed.next()?;
    computed.next().is_none().then_some(first)
}

fn is_constant(graph: &GraphProto, name: &str) -> bool {
    let mut name = name;
    for _ in 0..MOST_STEPS {
        // An input that may be left out has no name.
        if name.is_empty() || graph.held().any(|held| held == name) {
            return true;
        }
        let Some(node) = producer(graph, name) else {
            return false;
        };
        match node.op_type.as_str() {
            "Constant" => return true,
            "Transpose" => {}
            operator if HAND_ON.contains(&operator) => {}
            _ => return false,
        }
        name = node.input.first().map_or("", String::as_str);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consumer::model_file::proto::{TensorProto, ValueInfoProto};

    /// A graph in lines `out = Operator in in`, whose weights begin with `w`.
    fn graph(lines: &str) -> GraphProto {
        let mut graph = GraphProto::default();
        for line in lines.split(';') {
            let words: Vec<&str> = line.split_whitespace().collect();
            graph.node.push(NodeProto {
                output: vec![words[0].to_owned()],
                op_type: words[2].to_owned(),
                input: words[3..].iter().map(|&word| word.to_owned()).collect(),
                attribute: vec![],
            });
        }
        for name in ["w", "w2"] {
            graph.initializer.push(TensorProto {
                name: name.to_owned(),
                ..TensorProto::default()
            });
        }
        graph.output.push(ValueInfoProto {
            name: "y".to_owned(),
            ..ValueInfoProto::default()
        });
        graph
    }

    #[test]
    fn an_outputs_maker_is_found_behind_what_only_hands_on() {
        for (lines, makes, operator) in [
            ("y = Softmax x", Makes::Probabilities, "Softmax"),
            (
                "a = Softmax x; b = Identity a; c = Cast b; d = Reshape c w; y = DequantizeLinear d w",
                Makes::Probabilities,
                "Softmax",
            ),
            (
                "a = LogSoftmax x; y = Cast a",
                Makes::LogProbabilities,
                "LogSoftmax",
            ),
            ("y = Sigmoid x", Makes::Independent, "Sigmoid"),
            ("y = Gemm x w w2", Makes::Sums, "Gemm"),
            ("a = MatMul x w; y = Add w2 a", Makes::Sums, "MatMul"),
            (
                "c = Constant; a = MatMul x w; y = Mul a c",
                Makes::Sums,
                "MatMul",
            ),
            (
                "d = DequantizeLinear w w2; y = MatMul x d",
                Makes::Sums,
                "MatMul",
            ),
        ] {
            let last = LastOperator::of_first_output(&graph(lines));
            assert_eq!(
                (last.makes, last.operator.as_str()),
                (makes, operator),
                "{lines}"
            );
            assert_eq!(last.output, "y");
        }
    }

    #[test]
    fn what_the_graph_does_not_tell_is_unknown() {
        for lines in [
            "y = ReduceMean x",
            "a = Softmax x; y = Mul a w",
            "a = Softmax x; b = Softmax z; y = Add a b",
            "a = Exp x; b = ReduceSum a; y = Div a b",
            "a = Softmax x; y = MatMul a x",
            "y = Identity y",
            "z = Softmax x",
        ] {
            let last = LastOperator::of_first_output(&graph(lines));
            assert_eq!(last.makes, Makes::Unknown, "{lines}");
        }
    }
}
