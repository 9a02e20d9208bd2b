#!/usr/bin/env python3
"""Writes images/rand_augment.json: timm's operations of RandAugment on noise, as SHA-256 of their bytes.

Needs numpy, Pillow 13.0, torch, torchvision and timm 1.0.31; run by hand. For tests/data/transform/rand_augment_test.cpp.
"""
import hashlib
import json
import pathlib
import random
from unittest import mock

import numpy as np
from PIL import Image
from timm.data import auto_augment

from make_transforms import noise

FILE = pathlib.Path(__file__).parent / "images" / "rand_augment.json"
SIZES = [(1, 1), (2, 5), (5, 2), (3, 3), (31, 17), (48, 64), (160, 160), (131, 224)]  # height, width
NAMES = ["auto_contrast", "equalize", "invert", "rotate", "posterize", "solarize", "solarize_add", "color", "contrast",
         "brightness", "sharpness", "shear_x", "shear_y", "translate_x", "translate_y"]  # in timm's order
HOW = {"img_mean": (124, 116, 104), "interpolation": Image.Resampling.BICUBIC}  # of a chain with ImageNet's mean


def applied(image, operation, magnitude, negative):
    operation = auto_augment.AugmentOp(operation, prob=1.0, magnitude=magnitude, hparams=HOW)
    with mock.patch.object(random, "random", return_value=0.75 if negative else 0.25):
        return np.asarray(operation(image))


def main():
    rng, cases = random.Random(11), []
    operations = dict(zip(NAMES, auto_augment.rand_augment_choices("", increasing=True), strict=True))
    for name, operation in operations.items():
        for seed, (height, width) in enumerate(SIZES):
            magnitude, negative, grey = rng.uniform(0, 9.9), rng.random() < 0.5, seed % 3 == 2
            pixels = noise(height, width, seed).permute(1, 2, 0).contiguous().numpy()
            image = Image.fromarray(pixels[:, :, :1].repeat(3, axis=2) if grey else pixels)
            out = applied(image, operation, magnitude, negative)
            cases.append({"operation": name, "height": height, "width": width, "seed": seed, "grey": grey,
                          "magnitude": magnitude, "negative": negative,
                          "sha256": hashlib.sha256(np.ascontiguousarray(out).tobytes()).hexdigest()})
    FILE.write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")


if __name__ == "__main__":
    main()
