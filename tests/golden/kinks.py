"""Finds images for which no ReLU input and no max-pool decision lies so near its kink that float32 rounding flips it.

One such element changes a gradient's norm by about 1e-3, in any correct program, so it must not happen in a golden run.
"""
import contextlib

import torch
from torch.nn import functional as F


class TooNear(Exception):
    pass


@contextlib.contextmanager
def watched(report):
    """Hands report() the smallest distance to a kink of every ReLU and max pool, over the values' root mean square."""
    relu, max_pool = F.relu, F.max_pool2d

    def watched_relu(x, inplace=False):
        report((x.abs().min() / x.square().mean().sqrt()).item())
        return relu(x)

    def watched_max_pool(x, kernel, stride=None, padding=0, *rest, **options):
        windows = F.unfold(F.pad(x, [padding] * 4), kernel, stride=stride)
        windows = windows.view(x.shape[0], x.shape[1], kernel * kernel, -1)
        first, second = windows.topk(2, dim=2).values.unbind(2)
        gaps = (first - second)[first > 0]
        report((gaps.min() / x.square().mean().sqrt()).item())
        return max_pool(x, kernel, stride, padding, *rest, **options)

    F.relu, F.max_pool2d = watched_relu, watched_max_pool
    try:
        yield
    finally:
        F.relu, F.max_pool2d = relu, max_pool


def margin_of(model, images, at_least):
    """The smallest distance, or None when it is below `at_least`."""
    smallest = [float("inf")]

    def report(distance):
        smallest[0] = min(smallest[0], distance)
        if smallest[0] < at_least:
            raise TooNear

    try:
        with watched(report), torch.no_grad():
            model(images)
    except TooNear:
        return None
    return smallest[0]


def farthest(model, images_of, enough, tries):
    """(margin, k) of the first images_of(k) whose margin is `enough`, else of the best of `tries`."""
    best = (0.0, 0)
    for k in range(tries):
        margin = margin_of(model, images_of(k), best[0])
        if margin is not None:
            best = (margin, k)
        if best[0] >= enough:
            break
    return best
