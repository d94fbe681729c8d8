#!/usr/bin/env python3
"""Classifies one photograph with Pillow, NumPy and ONNX Runtime and prints the best class; the time
until then is the figure. Usage: first_run_peer.py MODEL PICTURE"""
import sys

import numpy
import onnxruntime
from PIL import Image

model, path = sys.argv[1:]
session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
picture = Image.open(path).convert("RGB")
width, height = picture.size
side = int(min(height, width) * 224 / (224 + 32))
top, left = (height - side + 1) // 2, (width - side + 1) // 2
square = picture.crop((left, top, left + side, top + side)).resize((224, 224), Image.BICUBIC)
tensor = (numpy.asarray(square, dtype=numpy.float32) - 127.0) / 128.0
logits = session.run(None, {"images": numpy.ascontiguousarray(tensor.transpose(2, 0, 1)[None])})[0][0]
print(int(logits.argmax()), flush=True)
