"""Makes the ONNX models of this folder. python tests/data/models/make.py

external_weights.onnx: per channel, the mean of a picture of 32x32 times [1, 2, 4]; the factors are
in external_weights.bin, from byte 64 on.
"""
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

here = Path(__file__).parent
factors = numpy_helper.from_array(np.array([[1, 2, 4]], np.float32), "factors")
raw = factors.raw_data
factors.ClearField("raw_data")
factors.data_location = TensorProto.EXTERNAL
for key, value in (("location", "external_weights.bin"), ("offset", "64"), ("length", str(len(raw)))):
    factors.external_data.add(key=key, value=value)
(here / "external_weights.bin").write_bytes(bytes(64) + raw)

graph = helper.make_graph(
    [
        helper.make_node("GlobalAveragePool", ["images"], ["pooled"]),
        helper.make_node("Flatten", ["pooled"], ["means"]),
        helper.make_node("Mul", ["means", "factors"], ["scores"]),
    ],
    "external",
    [helper.make_tensor_value_info("images", TensorProto.FLOAT, ["N", 3, 32, 32])],
    [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["N", 3])],
    [factors],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
onnx.save(model, here / "external_weights.onnx")
