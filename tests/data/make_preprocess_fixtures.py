#!/usr/bin/env python3
"""Makes tests/data/preprocess: pictures and what Pillow 13, OpenCV 5 and NumPy make of them.

    python tests/data/make_preprocess_fixtures.py

Writes lossless inputs, `cases.json`, `expected.bin` (the resized 8-bit pixels of all cases, one
after the other) and two whole classifier tensors as .npy (float16 holds them exactly). The fixtures
in the repository were made by Pillow 13.0.0, OpenCV 5.0.0 and NumPy 2.4.6.
"""
import json
from pathlib import Path

import cv2
import numpy as np
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "tests/data/preprocess"
PAD = 114
PILLOW = {"pil-bilinear": Image.Resampling.BILINEAR, "pil-bicubic": Image.Resampling.BICUBIC}
OPENCV = {"cv-linear": cv2.INTER_LINEAR, "nearest": cv2.INTER_NEAREST}
RESIZES = ["stretch", "letterbox", "letterbox-topleft", "shortest-crop"]


def resized(pixels, width, height, name):
    if name in PILLOW:
        return np.asarray(Image.fromarray(pixels).resize((width, height), PILLOW[name]))
    return cv2.resize(pixels, (width, height), interpolation=OPENCV[name])


def prepared(pixels, size, resize, name, crop_pct):
    """-> pixels of `size` (height, width), the part of the frame and its place: left, top, width, height"""
    h, w = pixels.shape[:2]
    height, width = size
    crop, target = [0, 0, w, h], [0, 0, width, height]
    r = min(width / w, height / h)
    if resize == "letterbox":  # Ultralytics' LetterBox
        nw, nh = max(1, round(w * r)), max(1, round(h * r))
        target = [round((width - nw) / 2 - 0.1), round((height - nh) / 2 - 0.1), nw, nh]
    elif resize == "letterbox-topleft":  # YOLOX' preproc
        target = [0, 0, max(1, int(w * r)), max(1, int(h * r))]
    elif resize == "shortest-crop":  # TensorFlow's evaluation of EfficientNet-Lite
        c = int(min(h, w) * crop_pct)
        crop = [(w - c + 1) // 2, (h - c + 1) // 2, c, c]
    part = pixels[crop[1]:crop[1] + crop[3], crop[0]:crop[0] + crop[2]]
    out = np.full((height, width) + pixels.shape[2:], PAD, np.uint8)
    left, top, nw, nh = target
    out[top:top + nh, left:left + nw] = resized(np.ascontiguousarray(part), nw, nh, name)
    return out, crop, target


def inputs():
    """name -> RGB pixels; the ones made here are saved."""
    rng = np.random.default_rng(2)
    photo = lambda name: Image.open(ROOT / "assets/samples" / name).convert("RGB")
    stripes = np.zeros((61, 97, 3), np.uint8)
    stripes[:, ::4] = 255
    stripes[::7, :, 1] = 200
    made = {
        "cat": np.asarray(photo("cat.jpg")),
        "coffee_part": np.asarray(photo("coffee.jpg").crop((150, 90, 375, 241))),
        "stripes": stripes,
        "noise": rng.integers(0, 256, (33, 47, 3), dtype=np.uint8),
        "tiny": rng.integers(0, 256, (3, 5, 3), dtype=np.uint8),
        "dot": rng.integers(0, 256, (1, 1, 3), dtype=np.uint8),
        "column": rng.integers(0, 256, (5000, 1, 3), dtype=np.uint8),
        "row": rng.integers(0, 256, (1, 5000, 3), dtype=np.uint8),
    }
    for name, pixels in made.items():
        Image.fromarray(pixels).save(OUT / f"{name}.png", optimize=True)
    return made


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    pictures = inputs()
    cases, blob = [], bytearray()

    def case(name, pixels, size, resize, filter_name, crop_pct=0.875, gray=False):
        out, crop, target = prepared(pixels, size, resize, filter_name, crop_pct)
        cases.append({"input": name, "size": size, "resize": resize, "filter": filter_name, "crop_pct": crop_pct,
                      "gray": gray, "crop": crop, "target": target, "offset": len(blob)})
        blob.extend(out.tobytes())

    for filter_name in [*PILLOW, *OPENCV]:
        for resize in RESIZES:
            for name in ["coffee_part", "stripes", "noise", "tiny"]:
                for size in ([21, 40], [71, 90]):
                    if resize == "shortest-crop":
                        size = [size[0], size[0]]
                    case(name, pictures[name], size, resize, filter_name)
            for name in ["dot", "column", "row"]:
                case(name, pictures[name], [16, 16], resize, filter_name, 1.0)
        case("cat", pictures["cat"], [64, 64], "shortest-crop", filter_name, 1.0)
        case("noise", pictures["noise"], [33, 47], "stretch", filter_name)
        # Only one axis changes.
        case("noise", pictures["noise"], [33, 20], "stretch", filter_name)
        case("noise", pictures["noise"], [70, 47], "stretch", filter_name)
        # 260/292 of 292 is 260, whatever the order of operations.
        case("coffee_part", pictures["coffee_part"][:146], [65, 65], "shortest-crop", filter_name, 130 / 146)
        cases[-1]["rows"] = 146
        luma = np.asarray(Image.fromarray(pictures["coffee_part"]).convert("L"))
        case("coffee_part", luma, [28, 28], "stretch", filter_name, gray=True)
        case("coffee_part", luma, [40, 28], "letterbox", filter_name, gray=True)

    for name in ["cat", "camera"]:
        picture = Image.open(ROOT / "assets/samples/camera.png").convert("RGB") if name == "camera" else Image.fromarray(pictures[name])
        w, h = picture.size
        c = int(min(h, w) * 224 / (224 + 32))
        left, top = (w - c + 1) // 2, (h - c + 1) // 2
        picture = picture.crop((left, top, left + c, top + c)).resize((224, 224), Image.Resampling.BICUBIC)
        tensor = ((np.asarray(picture, np.float32) - 127) / 128).transpose(2, 0, 1)
        np.save(OUT / f"{name}_lite0_f16.npy", tensor.astype(np.float16))

    # ImageNet's mean and deviation in float32, as torchvision computes them.
    levels = np.arange(256, dtype=np.float32)[:, None] / np.float32(255)
    mean, std = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])
    imagenet = ((levels - mean) / std).T
    document = {"pillow": Image.__version__, "opencv": cv2.__version__, "numpy": np.__version__, "pad": PAD, "cases": cases,
                "imagenet_levels": [[float(v) for v in channel] for channel in imagenet]}
    (OUT / "cases.json").write_text(json.dumps(document, indent=None, separators=(",", ":")).replace('{"input"', '\n{"input"') + "\n")
    (OUT / "expected.bin").write_bytes(blob)


main()
