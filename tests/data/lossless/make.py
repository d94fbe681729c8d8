"""Makes lossless copies of photographs, decoded by Pillow: the pixels that
tests/data/expected/expected_classify.json was computed from, whatever the JPEG decoder.

python tests/data/lossless/make.py
"""
from pathlib import Path

from PIL import Image

here = Path(__file__).parent
samples = here.parents[2] / "assets" / "samples"
for name in ("cat", "coffee", "rocket"):
    Image.open(samples / f"{name}.jpg").convert("RGB").save(here / f"{name}.png", optimize=True)
