"""The loss of SSD-300 as Liu et al. 2015 (arXiv:1512.02325) define it, with MLPerf's default boxes for COCO, image by
image."""
import math

import torch
from torch.nn import functional as F

LEVELS = ((38, 8, 21, 45, (2,)), (19, 16, 45, 99, (2, 3)), (10, 32, 99, 153, (2, 3)), (5, 64, 153, 207, (2, 3)),
          (3, 100, 207, 261, (2,)), (1, 300, 261, 315, (2,)))  # pixels, step, scale, next scale, aspects


def default_boxes():
    """[8732, 4] of centre x, centre y, width, height."""
    rows = []
    for pixels, step, scale, following, aspects in LEVELS:
        own = scale / 300
        sizes = [(own, own), (math.sqrt(own * following / 300),) * 2]
        for aspect in aspects:
            root = math.sqrt(aspect)
            sizes += [(own * root, own / root), (own / root, own * root)]
        rows += [((column + 0.5) * step / 300, (row + 0.5) * step / 300, width, height)
                 for width, height in sizes for row in range(pixels) for column in range(pixels)]
    return torch.tensor(rows, dtype=torch.float64).clamp(max=1).float().double()


def overlap(box, others):
    """Intersection over union of one box with others, as corners."""
    begin, end = torch.maximum(box[:2], others[:, :2]), torch.minimum(box[2:], others[:, 2:])
    common = (end - begin).clamp(min=0).prod(1)
    return common / ((box[2:] - box[:2]).prod() + (others[:, 2:] - others[:, :2]).prod(1) - common)


def matches(objects, defaults):
    """The object of each default box, -1 for none."""
    corners = torch.cat([defaults[:, :2] - defaults[:, 2:] / 2, defaults[:, :2] + defaults[:, 2:] / 2], 1)
    table = torch.stack([overlap(box, corners) for box in objects[:, 1:]])
    best, index = table.max(0)
    index[best < 0.5] = -1
    for m, row in enumerate(table):
        index[row.argmax()] = m
    return index


def image_loss(output, objects):
    """output [4 + classes, boxes], objects [M, 5] as in formula.boxes()."""
    defaults = default_boxes()
    objects = objects[objects[:, 0] > 0]
    index = matches(objects, defaults)
    chosen = index >= 0
    mine, own = objects[index[chosen], 1:], defaults[chosen]
    centre = ((mine[:, :2] + mine[:, 2:]) / 2 - own[:, :2]) / own[:, 2:] / 0.1
    stretch = ((mine[:, 2:] - mine[:, :2]) / own[:, 2:]).log() / 0.2
    offsets = F.smooth_l1_loss(output[:4, chosen].T, torch.cat([centre, stretch], 1), reduction="sum")
    classes = torch.where(chosen, objects[index.clamp(min=0), 0].long(), 0)
    entropy = F.cross_entropy(output[4:].T, classes, reduction="none")
    count = int(chosen.sum())
    worst = entropy[~chosen].sort(descending=True).values[:3 * count]
    return (offsets + entropy[chosen].sum() + worst.sum()) / count


def loss(outputs, objects):
    return torch.stack([image_loss(*pair) for pair in zip(outputs, objects)]).mean()
