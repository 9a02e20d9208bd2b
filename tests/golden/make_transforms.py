#!/usr/bin/env python3
"""Writes images/transforms.json: torchvision's transforms of random images, with given numbers, as SHA-256 of their bytes.

Needs numpy, torch 2.11 and torchvision 0.26; run by hand. For tests/data/transform/transform_test.cpp.
"""
import hashlib
import json
import pathlib
import random

import numpy as np
import torch
from torchvision.transforms import InterpolationMode
from torchvision.transforms.v2 import functional as F

FILE = pathlib.Path(__file__).parent / "images" / "transforms.json"
CASES, BICUBIC = 200, 40


def noise(height, width, seed):
    """[3, H, W]; the same in transform_test.cpp. Neighbours resemble each other, as in photographs."""
    y, x, c = np.mgrid[0:height, 0:width, 0:3].astype(np.uint64)
    mixed = (y * 2654435761 + x * 40503 + c * 7919 + seed * 104729) % 4294967291
    grain = (mixed * mixed % 4294967291) >> 24
    smooth = (3 * y + 2 * x + 60 * c) % 256
    return torch.from_numpy(((grain + 3 * smooth) // 4).astype(np.uint8)).permute(2, 0, 1)


def draw(rng, height, width):
    """The name of a transform and its numbers."""
    side = rng.randint(8, 160)
    top, left = rng.randrange(height), rng.randrange(width)
    part = [top, left, rng.randint(1, height - top), rng.randint(1, width - left)]
    return rng.choice([("resize", [side]), ("center_crop", [side]), ("resized_crop", [*part, side]), ("mirror", []),
                       ("shift", [rng.randint(-height, height), rng.randint(-width, width)]),
                       ("rotation", [rng.uniform(-180, 180)]), ("brightness", [rng.uniform(0, 2)]),
                       ("contrast", [rng.uniform(0, 2)]), ("saturation", [rng.uniform(0, 2)]),
                       ("hue", [rng.uniform(-0.5, 0.5)])])


def draw_bicubic(rng, height, width):
    side = rng.randint(8, 160)
    top, left = rng.randrange(height), rng.randrange(width)
    part = [top, left, rng.randint(1, height - top), rng.randint(1, width - left)]
    return rng.choice([("resize_bicubic", [side]), ("resized_crop_bicubic", [*part, side])])


def applied(image, name, numbers):
    if name == "resize_bicubic":
        return F.resize(image, [numbers[0]], interpolation=InterpolationMode.BICUBIC, antialias=True)
    if name == "resized_crop_bicubic":
        return F.resized_crop(image, *numbers[:4], [numbers[4]] * 2, interpolation=InterpolationMode.BICUBIC, antialias=True)
    if name == "resize":
        return F.resize(image, [numbers[0]], antialias=True)
    if name == "center_crop":
        return F.center_crop(image, numbers)
    if name == "resized_crop":
        return F.resized_crop(image, *numbers[:4], [numbers[4]] * 2, antialias=True)
    if name == "mirror":
        return F.horizontal_flip(image)
    if name == "shift":
        return F.affine(image, 0, [numbers[1], numbers[0]], 1, [0, 0], interpolation=InterpolationMode.NEAREST)
    if name == "rotation":
        return F.rotate(image, numbers[0], interpolation=InterpolationMode.NEAREST)
    return getattr(F, f"adjust_{name}")(image, numbers[0])


def main():
    torch.set_num_threads(1)
    rng, cases = random.Random(7), []
    for seed in range(CASES + BICUBIC):
        height, width = rng.randint(1, 200), rng.randint(1, 200)
        name, numbers = (draw if seed < CASES else draw_bicubic)(rng, height, width)
        out = applied(noise(height, width, seed), name, numbers)
        pixels = out.permute(1, 2, 0).contiguous().numpy()
        cases.append({"height": height, "width": width, "transform": name, "numbers": numbers,
                      "size": [out.shape[1], out.shape[2]], "sha256": hashlib.sha256(pixels.tobytes()).hexdigest()})
    FILE.write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")


if __name__ == "__main__":
    main()
