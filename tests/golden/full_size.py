"""A step of training at 224 pixels in float64, and how far from it PyTorch is in float32 and in bfloat16 by autocast.

Among so many values some ReLU is near its kink, and in bfloat16 thousands are: there the distance of PyTorch's own
computation says how far a right program may be.
"""
import torch

import marks
from formula import tensor

NETWORKS = ("resnet50", "mobilenet_v2", "densenet121")
SIZE, BATCH, INPUT = 224, 2, "input.0"


def run(model, dtype):
    """`dtype`: of the weights, but for bfloat16 those are in float32 and autocast converts them."""
    images = tensor(INPUT, (BATCH, 3, SIZE, SIZE)).to(next(model.parameters()).dtype)
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=dtype == torch.bfloat16):
        logits = model(images)
    logits = logits.to(images.dtype)
    loss = marks.cross_entropy(logits)
    loss.backward()
    return {"logits": logits.detach().double(), "loss": loss.detach(),
            "gradients": {n: marks.mark(n, p.grad) for n, p in model.named_parameters()},
            "statistics": marks.norms_of_statistics(model)}


def error_of(exact, found):
    return {"logits": (found["logits"] - exact["logits"]).norm() / exact["logits"].norm(),
            "loss": abs(found["loss"] / exact["loss"] - 1),
            "gradients": marks.distances(exact["gradients"], found["gradients"])}


def of(name, make):
    """`make(dtype)`: the network with the formula's weights."""
    if name not in NETWORKS:
        return None
    exact = run(make(torch.float64), torch.float64)
    errors = {"float32": error_of(exact, run(make(torch.float32), torch.float32)),
              "bfloat16": error_of(exact, run(make(torch.float32), torch.bfloat16))}
    print(f"{name} at {SIZE} pixels: loss {exact['loss']:.4f}, {marks.short(errors)}", flush=True)
    return {"imageSize": SIZE, "batch": BATCH, "input": INPUT, **exact, "errors": errors}
