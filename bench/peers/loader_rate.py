"""The rate of a loader: what its programs take as options, how a batch must be, and what they print."""
import argparse
import json
import time

SIDE = 224


def parser(description):
    found = argparse.ArgumentParser(description=description, allow_abbrev=False)
    found.add_argument("--data", required=True, help="a folder of images for each class")
    found.add_argument("--workers", type=int, default=1, help="threads or processes that make batches")
    found.add_argument("--batch", type=int, default=64)
    found.add_argument("--warmup", type=int, default=10, help="batches before the measurement")
    found.add_argument("--steps", type=int, default=100, help="batches measured")
    return found


def check(images, batch):
    """A batch is whole and of bytes: [batch, side, side, 3] or [batch, 3, side, side]."""
    shape, kind = tuple(images.shape), str(images.dtype).lower()
    if shape not in ((batch, SIDE, SIDE, 3), (batch, 3, SIDE, SIDE)) or "uint8" not in kind:
        raise ValueError(f"a batch is {kind} {list(shape)}; {batch} images of {SIDE} x {SIDE} bytes were asked for")


def measure(batches, options):
    """Prints the rate of an iterator over batches of images as one line of JSON. None stands for a batch that is kept
    nowhere."""
    for _ in range(options.warmup):
        if (images := next(batches)) is not None:
            check(images, options.batch)
    start = time.monotonic()
    for _ in range(options.steps):
        next(batches)
    wall = time.monotonic() - start
    print(json.dumps({"images_per_s": options.batch * options.steps / wall}), flush=True)
