#!/usr/bin/env python3
"""Writes images/: small JPEG and PNG files and, in expected.json, the pixels of Pillow and the prepared ones of torchvision.

Needs numpy, Pillow, torch 2.11 and torchvision 0.26; run by hand. For tests/formats/image_test.cpp and
tests/data/transform/transform_test.cpp.
"""
import json
import pathlib
import struct
import zlib

import numpy as np
import torch
from PIL import Image
from torchvision.transforms import v2

FOLDER = pathlib.Path(__file__).parent / "images"
ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def pattern(height, width):
    """[H, W, 3]; the same in transform_test.cpp."""
    y, x, c = np.mgrid[0:height, 0:width, 0:3]
    return ((7 * y + 13 * x + 50 * c + 5 * (y * x % 11)) % 256).astype(np.uint8)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(height, width, depth, colour, rows, interlaced=0, extra=b""):
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def interlaced(pixels):
    rows = b""
    for x, y, dx, dy in ADAM7:
        part = pixels[y::dy, x::dx]
        if part.size:
            rows += b"".join(b"\0" + row.tobytes() for row in part)
    return png(*pixels.shape[:2], 8, 2, rows, interlaced=1)


def deep(pixels):
    """16 bits of grey, the lower byte of no importance."""
    rows = b"".join(b"\0" + b"".join(bytes([value, 77]) for value in row) for row in pixels[:, :, 0])
    return png(*pixels.shape[:2], 16, 0, rows)


def main():
    FOLDER.mkdir(exist_ok=True)
    pixels = pattern(9, 13)
    image = Image.fromarray(pixels)
    smooth = image.resize((13, 9)).resize((26, 18), Image.Resampling.BICUBIC)
    image.save(FOLDER / "rgb.png")
    image.convert("L").save(FOLDER / "grey.png")
    image.quantize(16).save(FOLDER / "palette.png", transparency=3)
    image.convert("RGBA").save(FOLDER / "rgba.png")
    (FOLDER / "interlaced.png").write_bytes(interlaced(pixels))
    (FOLDER / "deep.png").write_bytes(deep(pixels))
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    bomb = chunk(b"zTXt", b"Comment\0\0" + zlib.compress(bytes(64 << 20)))
    (FOLDER / "bomb.png").write_bytes(png(9, 13, 8, 2, rows, extra=bomb))
    smooth.save(FOLDER / "rgb.jpg", quality=90)
    smooth.save(FOLDER / "progressive.jpg", quality=90, progressive=True)
    smooth.convert("L").save(FOLDER / "grey.jpg", quality=90)
    smooth.convert("CMYK").save(FOLDER / "cmyk.jpg", quality=90)
    expected = {}
    for name in ("rgb.png", "grey.png", "palette.png", "rgba.png", "interlaced.png", "rgb.jpg", "progressive.jpg", "grey.jpg"):
        expected[name] = np.asarray(Image.open(FOLDER / name).convert("RGB"))
    expected["deep.png"] = np.repeat(pixels[:, :, :1], 3, axis=2)
    prepared = []
    for height, width, resize, crop in ((37, 50, 20, 16), (50, 37, 21, 16), (20, 20, 20, 15), (9, 30, 18, 18)):
        bytes_ = torch.from_numpy(pattern(height, width)).permute(2, 0, 1)
        out = v2.Compose([v2.Resize(resize, antialias=True), v2.CenterCrop(crop)])(bytes_).permute(1, 2, 0)
        prepared.append({"height": height, "width": width, "resize": resize, "crop": crop, "pixels": out.flatten().tolist()})
    text = {"decoded": {name: {"height": a.shape[0], "width": a.shape[1], "pixels": a.flatten().tolist()}
                        for name, a in expected.items()}, "prepared": prepared}
    (FOLDER / "expected.json").write_text(json.dumps(text, separators=(",", ":")).replace("},", "},\n") + "\n")


main()
