"""Makes the classifiers scores_*.onnx and scores.json: what ONNX Runtime says of single-coloured
pictures, and the probabilities that NumPy makes of it. python tests/data/models/make_scores.py

Each takes the mean of every channel of a picture of 8x8 in 0..1. A picture of which red, green and
blue sum to 255 gives a row that sums to 1 by accident.

gemm     ends in a Gemm: logits
softmax  ends in a Softmax behind a Reshape, a Cast and an Identity
by_hand  ends in a softmax made of Exp, ReduceSum and Div: the graph does not tell
shifted  mean + [0.2, 0.3, 0.5]: sums to 1 for a black picture only, and the graph does not tell
log      ends in a LogSoftmax
sigmoid  ends in a Sigmoid: a number for each class by itself
"""
import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

here = Path(__file__).parent
node = helper.make_node
constants = {
    "five": 5 * np.eye(3, dtype=np.float32),
    "one": np.eye(3, dtype=np.float32),
    "shape": np.array([-1, 3], np.int64),
    "last": np.array([-1], np.int64),
    "shift": np.array([[0.2, 0.3, 0.5]], np.float32),
}
ends = {
    "gemm": [node("Gemm", ["means", "one"], ["scores"])],
    "softmax": [
        node("Gemm", ["means", "five"], ["logits"]),
        node("Softmax", ["logits"], ["soft"]),
        node("Reshape", ["soft", "shape"], ["shaped"]),
        node("Cast", ["shaped"], ["cast"], to=TensorProto.FLOAT),
        node("Identity", ["cast"], ["scores"]),
    ],
    "by_hand": [
        node("Gemm", ["means", "five"], ["logits"]),
        node("Exp", ["logits"], ["powers"]),
        node("ReduceSum", ["powers", "last"], ["sum"], keepdims=1),
        node("Div", ["powers", "sum"], ["scores"]),
    ],
    "shifted": [node("Add", ["means", "shift"], ["scores"])],
    "log": [
        node("Gemm", ["means", "five"], ["logits"]),
        node("LogSoftmax", ["logits"], ["scores"]),
    ],
    "sigmoid": [
        node("Gemm", ["means", "five"], ["logits"]),
        node("Sigmoid", ["logits"], ["scores"]),
    ],
}
colours = [[0, 0, 0], [51, 102, 102], [255, 255, 255], [255, 0, 0], [10, 200, 30]]


def softmax(row):
    powers = np.exp(row - row.max())
    return powers / powers.sum()


expected = {}
for name, end in ends.items():
    nodes = [
        node("GlobalAveragePool", ["images"], ["pooled"]),
        node("Flatten", ["pooled"], ["means"]),
        *end,
    ]
    used = {tensor for one in nodes for tensor in one.input}
    graph = helper.make_graph(
        nodes,
        name,
        [helper.make_tensor_value_info("images", TensorProto.FLOAT, ["N", 3, 8, 8])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["N", 3])],
        [numpy_helper.from_array(array, key) for key, array in constants.items() if key in used],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    path = here / f"scores_{name}.onnx"
    onnx.save(model, path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    expected[name] = []
    for colour in colours:
        pixels = np.broadcast_to(np.array(colour, np.float32).reshape(1, 3, 1, 1) / 255, (1, 3, 8, 8))
        row = session.run(None, {"images": np.ascontiguousarray(pixels)})[0][0].astype(np.float64)
        probabilities = {
            "softmax": row,
            "by_hand": row,
            "sigmoid": None,
        }.get(name, softmax(row))
        expected[name].append(
            {
                "rgb": colour,
                "values": row.round(6).tolist(),
                "probabilities": None if probabilities is None else probabilities.round(6).tolist(),
            }
        )
(here / "scores.json").write_text(json.dumps(expected, indent=1) + "\n")
