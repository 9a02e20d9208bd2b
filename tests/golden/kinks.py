"""Finds images for which no ReLU(6) input and no max-pool decision lies so near its kink that float32 rounding flips it.

One such element changes a gradient's norm by about 1e-3, in any correct program, so it must not happen in a golden run.
"""
import contextlib

import torch
from torch.nn import functional as F


PATIENCE = 1e-5, 40  # the margin that is enough, and how many images are tried for it


class TooNear(Exception):
    pass


@contextlib.contextmanager
def watched(report):
    """Hands report() the smallest distance to a kink of every ReLU(6) and max pool (squares), over the values' root mean
    square."""
    relu, hardtanh, max_pool = F.relu, F.hardtanh, F.max_pool2d

    def watched_relu(x, inplace=False):
        report((x.abs().min() / x.square().mean().sqrt()).item())
        return relu(x)

    def watched_hardtanh(x, least=-1.0, most=1.0, inplace=False):
        distance = torch.minimum((x - least).abs(), (x - most).abs())
        report((distance.min() / x.square().mean().sqrt()).item())
        return hardtanh(x, least, most)

    def watched_max_pool(x, kernel_size, stride=None, padding=0, *rest, **options):
        given = (kernel_size, stride or kernel_size, padding)
        kernel, step, edge = (n[0] if isinstance(n, tuple) else n for n in given)
        beyond = kernel if options.get("ceil_mode") else 0
        nothing = -float("inf")
        windows = F.unfold(F.pad(x, [edge, edge + beyond] * 2, value=nothing), kernel, stride=step)
        windows = windows.view(x.shape[0], x.shape[1], kernel * kernel, -1)
        # Equal values are copies of one element, made by overlapping windows of an earlier pool.
        first = windows.max(dim=2, keepdim=True).values
        second = windows.masked_fill(windows == first, nothing).max(dim=2, keepdim=True).values
        gaps = (first - second)[first > nothing]
        report((gaps.min() / x[x > nothing].square().mean().sqrt()).item())
        return max_pool(x, kernel_size, stride, padding, *rest, **options)

    F.relu, F.hardtanh, F.max_pool2d = watched_relu, watched_hardtanh, watched_max_pool
    try:
        yield
    finally:
        F.relu, F.hardtanh, F.max_pool2d = relu, hardtanh, max_pool


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
