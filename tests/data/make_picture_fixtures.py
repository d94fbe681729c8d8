#!/usr/bin/env python3
"""Writes pictures/ (small files of every format, made by Pillow and OpenCV) and pictures.json: what
Pillow decodes from them and from edge/, cases/ and pictures/, upright, as 8-bit RGB.

Usage: make_picture_fixtures.py (needs pillow, numpy, opencv-python-headless, OpenEXR)

For each file: size (upright), stored (as in the file), orientation, and samples: x, y, red, green,
blue on a grid of at most 5x5 pixels, and the mean of each channel. Alpha is dropped, 16-bit
samples are divided by 257, CMYK is read with Adobe's convention. Floats (from OpenCV) are clamped to
0..1 and multiplied by 255.
"""
import json, os, struct, zlib

import cv2
import numpy as np
import OpenEXR
from PIL import Image, ImageOps

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "pictures")
Image.MAX_IMAGE_PIXELS = None


def picture(width=24, height=16):
    y, x = np.mgrid[0:height, 0:width]
    rgb = np.stack([x * 255 // (width - 1), y * 255 // (height - 1), (x * 7 + y * 11) % 256], -1)
    rgb[: height // 2, : width // 2] = (200, 100, 50)
    return rgb.astype(np.uint8)


def make():
    os.makedirs(OUT, exist_ok=True)
    path = lambda name: os.path.join(OUT, name)
    rgb = Image.fromarray(picture())
    gray = rgb.convert("L")
    rgba = rgb.copy()
    rgba.putalpha(Image.fromarray(np.tile(np.linspace(0, 255, 24).astype(np.uint8), (16, 1))))
    gray16 = (np.arange(24 * 16, dtype=np.uint32).reshape(16, 24) * 65535 // 383).astype(np.uint16)
    rgb.save(path("rgb.tga"))
    rgba.save(path("rle.tga"), compression="tga_rle")
    gray.save(path("gray.tga"))
    rgb.save(path("rgb.ico"), sizes=[(16, 16)])
    rgba.save(path("bmp.ico"), sizes=[(16, 16)], bitmap_format="bmp")
    rgb.convert("P", palette=Image.Palette.ADAPTIVE).save(path("palette.bmp"))
    gray.convert("1").save(path("bilevel.bmp"))
    gray.convert("1").save(path("bilevel.pbm"))
    gray.save(path("gray.pgm"))
    Image.fromarray(gray16).save(path("gray16.pgm"))
    rgb.save(path("rgb.qoi"))
    rgba.save(path("rgba.webp"), lossless=True)
    gray.save(path("gray.tif"), compression="tiff_lzw")
    gray.convert("1").save(path("bilevel.tif"))
    Image.fromarray(gray16).save(path("gray16.tif"))
    rgb.convert("CMYK").save(path("cmyk.tif"))
    rgb.convert("P", palette=Image.Palette.ADAPTIVE).save(path("palette.tif"))
    rgb.save(path("deflate.tif"), compression="tiff_adobe_deflate")
    rgb.save(path("packbits.tif"), compression="packbits")
    rgb.save(path("jpeg.tif"), compression="jpeg")
    rgb.save(path("dxt1.dds"), pixel_format="DXT1")
    rgb.resize((32, 32)).save(path("subsampled.jpg"), quality=95, subsampling=2)
    rgb.convert("CMYK").save(path("cmyk.jpg"), quality=95)
    exif = Image.Exif()
    exif[0x0112] = 6
    rgb.save(path("exif6.webp"), lossless=True, exif=exif)
    rgb.save(path("exif6.tif"), exif=exif)
    cv2.imwrite(path("rgb16.png"), picture()[..., ::-1].astype(np.uint16) * 257)
    cv2.imwrite(path("rgba16.png"), np.dstack([picture(), picture()[..., :1]]).astype(np.uint16) * 257)
    cv2.imwrite(path("float.hdr"), picture()[..., ::-1].astype(np.float32) / 128)
    exr = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
    OpenEXR.File(exr, {"RGB": picture().astype(np.float32) / 128}).write(path("float.exr"))
    cv2.imwrite(path("rgb16.tif"), picture()[..., ::-1].astype(np.uint16) * 257)
    farbfeld(path("rgba16.ff"))
    ycck(path("cmyk.jpg"), path("ycck.jpg"))
    exif_behind_pixels(path("exif6_late.png"), rgb)


def farbfeld(name):
    pixels = np.dstack([picture(), np.full((16, 24), 255, np.uint8)]).astype(np.uint16) * 257
    with open(name, "wb") as file:
        file.write(b"farbfeld" + struct.pack(">II", 24, 16) + pixels.astype(">u2").tobytes())


def ycck(cmyk, name):
    """Declares the components of a CMYK JPEG as YCCK, which makes other, equally valid colours."""
    data = open(cmyk, "rb").read()
    at = data.index(b"Adobe") + 11
    with open(name, "wb") as file:
        file.write(data[:at] + b"\x02" + data[at + 1 :])


def exif_behind_pixels(name, image):
    image.save(name)
    data = open(name, "rb").read()
    tiff = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"
    chunk = b"eXIf" + tiff
    chunk = struct.pack(">I", len(tiff)) + chunk + struct.pack(">I", zlib.crc32(chunk))
    end = data.index(b"IEND") - 4
    with open(name, "wb") as file:
        file.write(data[:end] + chunk + data[end:])


def decode(name):
    if name.endswith(".exr"):
        rgb = OpenEXR.File(name).channels()["RGB"].pixels
        return np.rint(np.clip(rgb, 0, 1) * 255), None
    if name.endswith(".hdr"):
        return np.rint(np.clip(cv2.imread(name, cv2.IMREAD_UNCHANGED), 0, 1)[..., ::-1] * 255), None
    if name.endswith(".ff"):
        raw = open(name, "rb").read()
        width, height = struct.unpack(">II", raw[8:16])
        pixels = np.frombuffer(raw[16:], ">u2").reshape(height, width, 4)
        return np.rint(pixels[..., :3] / 257), None
    with Image.open(name) as image:
        # Pillow turns TIFFs by itself; 256 and 257 are the tags of width and height.
        tags = getattr(image, "tag_v2", None)
        stored = (tags[256], tags[257]) if tags else image.size
        orientation = image.getexif().get(0x0112, 1)
        image.load()  # a PNG may have its EXIF data behind the pixels
        orientation = image.getexif().get(0x0112, orientation)
        image = ImageOps.exif_transpose(image)
        if image.mode.startswith("I"):
            gray = np.rint(np.asarray(image).astype(np.float64) / 257)
            pixels = np.dstack([gray] * 3)
        elif os.path.basename(name).startswith("rgb16") or os.path.basename(name).startswith("rgba16"):
            wide = cv2.imread(name, cv2.IMREAD_UNCHANGED).astype(np.float64)
            pixels = np.rint(wide[..., 2::-1] / 257)
        elif image.mode in ("RGBA", "LA", "P", "PA"):
            pixels = np.asarray(image.convert("RGBA"))[..., :3]
        else:
            pixels = np.asarray(image.convert("RGB"))
        return pixels.astype(np.float64), (stored, orientation if 1 <= orientation <= 8 else 1)


def describe(name):
    try:
        pixels, exif = decode(name)
    except Exception as error:  # what Pillow refuses is refused here
        return {"error": f"{type(error).__name__}"}
    height, width = pixels.shape[:2]
    stored, orientation = exif or ((width, height), 1)
    # Off the middle, where the parts of the test pictures meet.
    columns = sorted({min(width - 1, int(width * f)) for f in (0.05, 0.3, 0.45, 0.7, 0.95)})
    rows = sorted({min(height - 1, int(height * f)) for f in (0.05, 0.3, 0.45, 0.7, 0.95)})
    return {
        "size": [width, height],
        "stored": list(stored),
        "orientation": orientation,
        "mean": [round(float(m), 3) for m in pixels.reshape(-1, 3).mean(0)],
        "samples": [[x, y, *map(int, pixels[y, x])] for y in rows for x in columns],
    }


def main():
    make()
    pictures = {}
    for folder in ("edge", "cases", "pictures"):
        for name in sorted(os.listdir(os.path.join(HERE, folder))):
            path = os.path.join(HERE, folder, name)
            if not os.path.isfile(path) or name.startswith("."):
                continue
            if name.endswith((".onnx", ".c", ".txt")) or name in ("make_names",):
                continue
            if "bomb" in name or name in ("huge1bit.png", "forged.png"):
                continue
            pictures[f"{folder}/{name}"] = describe(path)
    with open(os.path.join(HERE, "pictures.json"), "w") as file:
        entries = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in pictures.items()]
        file.write("{\n" + ",\n".join(entries) + "\n}\n")


main()
