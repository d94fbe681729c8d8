#!/usr/bin/env python3
"""Times OpenCV's and Pillow's preprocessing of one frame on one thread; called by preprocess.rs.

    preprocess_peers.py FRAME WIDTH HEIGHT RUNS

FRAME holds packed 8-bit RGB. Prints one JSON object: milliseconds of the median run of each way.

`opencv` is the usual pipeline: for classifiers the shorter side to 256, the centre of 224, mean and
deviation per channel; for detectors Ultralytics' letterbox and its array operations. `opencv tuned`
crops before it resizes and normalises planes in place: the same job, as cheap as NumPy allows.
`pillow` is the tuned pipeline too.

Neither of OpenCV's classifier pipelines antialiases: INTER_CUBIC reads 16 pixels for each one it
makes, an antialiased filter at this reduction about 300.
"""
import json
import statistics
import sys
import time

import cv2
import numpy as np
from PIL import Image

MEAN, STD = np.float32(127), np.float32(128)


def square(pixels, size=224):
    h, w = pixels.shape[:2]
    c = int(min(h, w) * size / (size + 32))
    top, left = (h - c + 1) // 2, (w - c + 1) // 2
    return top, left, c


def normalised(pixels, mean, std):
    """HWC bytes to normalised CHW float32"""
    values = pixels.transpose(2, 0, 1).astype(np.float32, order="C")
    values -= mean
    values /= std
    return values


def classify_opencv(pixels):
    h, w = pixels.shape[:2]
    r = 256 / min(h, w)
    whole = cv2.resize(pixels, (round(w * r), round(h * r)), interpolation=cv2.INTER_CUBIC)
    top, left = (whole.shape[0] - 224) // 2, (whole.shape[1] - 224) // 2
    values = whole[top:top + 224, left:left + 224].astype(np.float32)
    values = (values - np.float32([127, 127, 127])) / np.float32([128, 128, 128])
    return np.ascontiguousarray(values.transpose(2, 0, 1))


def classify_opencv_tuned(pixels):
    top, left, c = square(pixels)
    part = cv2.resize(pixels[top:top + c, left:left + c], (224, 224), interpolation=cv2.INTER_CUBIC)
    return normalised(part, MEAN, STD)


def classify_pillow(pixels):
    top, left, c = square(pixels)
    part = Image.fromarray(pixels).crop((left, top, left + c, top + c)).resize((224, 224), Image.Resampling.BICUBIC)
    return normalised(np.asarray(part), MEAN, STD)


def letterbox(pixels, resize, size=640):
    h, w = pixels.shape[:2]
    r = min(size / w, size / h)
    nw, nh = round(w * r), round(h * r)
    left, top = round((size - nw) / 2 - 0.1), round((size - nh) / 2 - 0.1)
    right, bottom = size - nw - left, size - nh - top
    return resize(pixels, nw, nh, top, bottom, left, right)


def bordered(pixels, nw, nh, top, bottom, left, right):
    part = cv2.resize(pixels, (nw, nh), interpolation=cv2.INTER_LINEAR)
    return cv2.copyMakeBorder(part, top, bottom, left, right, cv2.BORDER_CONSTANT, value=(114, 114, 114))


def letterbox_opencv(pixels):
    values = np.ascontiguousarray(letterbox(pixels, bordered).transpose(2, 0, 1))
    return values.astype(np.float32) / 255


def letterbox_opencv_tuned(pixels):
    return normalised(letterbox(pixels, bordered), np.float32(0), np.float32(255))


def letterbox_pillow(pixels):
    def resize(pixels, nw, nh, top, bottom, left, right):
        out = Image.new("RGB", (left + nw + right, top + nh + bottom), (114, 114, 114))
        out.paste(Image.fromarray(pixels).resize((nw, nh), Image.Resampling.BILINEAR), (left, top))
        return np.asarray(out)

    return normalised(letterbox(pixels, resize), np.float32(0), np.float32(255))


def median_millis(way, pixels, runs):
    times = []
    for _ in range(runs + runs // 10):
        start = time.perf_counter()
        way(pixels)
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times[runs // 10:])


def main():
    path, width, height, runs = sys.argv[1], *map(int, sys.argv[2:])
    cv2.setNumThreads(1)
    pixels = np.fromfile(path, np.uint8).reshape(height, width, 3)
    ways = {"classify": {"opencv": classify_opencv, "opencv tuned": classify_opencv_tuned, "pillow": classify_pillow},
            "letterbox": {"opencv": letterbox_opencv, "opencv tuned": letterbox_opencv_tuned, "pillow": letterbox_pillow}}
    millis = {job: {peer: median_millis(way, pixels, runs) for peer, way in peers.items()} for job, peers in ways.items()}
    print(json.dumps({"versions": f"OpenCV {cv2.__version__}, Pillow {Image.__version__}, NumPy {np.__version__}", "millis": millis}))


main()
