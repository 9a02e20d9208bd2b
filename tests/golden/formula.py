"""Tensors whose values follow from their name alone, so that two programs agree on them without a file. See formula.h,
the same in C++."""
import math

import numpy as np
import torch


def name_hash(name):
    """64-bit FNV-1a."""
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = ((value ^ byte) * 0x100000001B3) % 2**64
    return value


def uniform(name, count):
    """[count] in [0, 1): the upper 24 bits of splitmix64(hash of the name + index)."""
    parts = []
    for begin in range(0, count, 1 << 22):
        x = np.arange(begin, min(count, begin + (1 << 22)), dtype=np.uint64) + np.uint64(name_hash(name))
        x += np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x ^= x >> np.uint64(31)
        parts.append((x >> np.uint64(40)).astype(np.float64) * 2.0**-24)
    return np.concatenate(parts)


def normalization_gain(name):
    """Of a batch-norm: those that close a residual branch get less, as trained networks have it."""
    return 0.25 if name.rpartition(".")[0].endswith((".bn2", ".bn3", ".conv.3", ".f.c.1")) else 1


def tensor(name, shape, is_batch_norm=False):
    """The float64 tensor of this name, its values rounded to float32; index i counts in NCHW or OIHW order."""
    u = uniform(name, math.prod(shape))
    v = 2 * u - 1
    if name.startswith("input"):
        values = math.sqrt(3) * v
    elif name.endswith(".running_var"):
        values = 1 + 0.5 * u
    elif name.endswith(".running_mean"):
        values = 0.1 * v
    elif is_batch_norm and name.endswith(".weight"):
        values = normalization_gain(name) * (1 + 0.2 * v)
    elif is_batch_norm:
        below = np.arange(len(v)) % 4 == 3 if not name.endswith(".conv.0.1.bias") else False
        values = normalization_gain(name) * (np.where(below, -3, 3) + 0.1 * v)
    elif name.endswith("bias"):
        values = 0.1 * v
    elif len(shape) == 1:
        values = 1 + 0.2 * v
    else:
        values = math.sqrt(3) * math.sqrt(2 / math.prod(shape[1:])) * v
    return torch.from_numpy(values.astype(np.float32).astype(np.float64).reshape(shape))


def boxes(row, classes):
    """The objects of an image: class, left, top, right, bottom; eight rows, the last ones of zeros."""
    values = torch.zeros(8, 5)
    for m in range(3 + row):
        width, height = 0.1 + 0.07 * ((row + 2 * m) % 6), 0.15 + 0.06 * ((2 * row + m) % 7)
        left, top = (1 - width) * ((row + m) % 4) / 4, (1 - height) * ((3 * m + row) % 5) / 5
        values[m] = torch.tensor([1 + (5 * row + 3 * m) % (classes - 1), left, top, left + width, top + height])
    return values


def label(row, classes):
    return (7 * row + 3) % classes
