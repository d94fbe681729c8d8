#!/usr/bin/env python3
"""The pipeline of the original question in Python: a spawned producer copies decoded pictures into a
multiprocessing.Array under its lock, a spawned consumer copies them out, prepares them with Pillow
and NumPy and runs ONNX Runtime. Prints frames per second, the first 10 frames left out.

Usage: question_peer.py MODEL FOLDER TYPECODE THREADS FRAMES
"""
import multiprocessing
import os
import sys
import time

import numpy
from PIL import Image

MAX_PIXELS = 2048 * 2048 * 3


def produce(array, typecode, shape, filled, emptied, folder, frames):
    pictures = [numpy.asarray(Image.open(os.path.join(folder, name)).convert("RGB")) for name in sorted(os.listdir(folder))]
    view = numpy.frombuffer(array.get_obj(), dtype=typecode)
    for number in range(frames):
        picture = pictures[number % len(pictures)]
        emptied.acquire()
        with array.get_lock():
            shape[0], shape[1] = picture.shape[:2]
            view[: picture.size] = picture.ravel()
        filled.release()


def consume(array, typecode, shape, filled, emptied, model, threads, frames, result):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    view = numpy.frombuffer(array.get_obj(), dtype=typecode)
    for number in range(frames):
        if number == 10:
            started = time.monotonic()
        filled.acquire()
        with array.get_lock():
            height, width = shape
            picture = view[: height * width * 3].astype(numpy.uint8).reshape(height, width, 3)
        emptied.release()
        side = int(min(height, width) * 224 / (224 + 32))
        top, left = (height - side + 1) // 2, (width - side + 1) // 2
        square = Image.fromarray(picture).crop((left, top, left + side, top + side)).resize((224, 224), Image.BICUBIC)
        tensor = (numpy.asarray(square, dtype=numpy.float32) - 127.0) / 128.0
        logits = session.run(None, {"images": numpy.ascontiguousarray(tensor.transpose(2, 0, 1)[None])})[0][0]
        exponent = numpy.exp(logits - logits.max())
        numpy.argsort(exponent / exponent.sum())[::-1][:5]
    result.value = (frames - 10) / (time.monotonic() - started)


def main():
    model, folder, typecode, threads, frames = sys.argv[1:]
    threads, frames = int(threads), int(frames)
    context = multiprocessing.get_context("spawn")
    array = context.Array(typecode, MAX_PIXELS)
    shape = context.Array("i", 2, lock=False)
    result = context.Value("d", 0.0)
    filled, emptied = context.Semaphore(0), context.Semaphore(1)
    producer = context.Process(target=produce, args=(array, typecode, shape, filled, emptied, folder, frames))
    consumer = context.Process(target=consume, args=(array, typecode, shape, filled, emptied, model, threads, frames, result))
    producer.start()
    consumer.start()
    producer.join()
    consumer.join()
    print(result.value)


if __name__ == "__main__":
    main()
