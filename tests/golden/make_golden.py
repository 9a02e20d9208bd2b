#!/usr/bin/env python3
"""Writes the golden numbers that tests/executor/golden_test.cpp compares Tandem's models with.

Needs torch 2.11, torchvision 0.26 and timm 1.0.31, the pins of third_party/peers-requirements.txt; run by hand:
make_golden.py [--check] [--only=SECTION] [MODEL...]. With --check it writes nothing, takes the stored choice of images,
and fails when a stored number differs (make verify-models). With --only it computes one of SECTIONS and leaves the rest
of the file as it is.
Weights and images come from formulas (the same as formula.h), everything is computed in float64. Where torchvision has
the model it is torchvision's own; references.py names timm's and holds the others. For each model and mode it prints
the loss, the margin of kinks.py, and how far the same computation in float32 is from float64: well under the tests'
tolerance.
"""
import json
import pathlib
import sys

import torch
import torchvision

import flops
import full_size
import kinks
import references
import multibox
import steps
from formula import boxes, label, tensor

CLASSES = 10
# name: (batch, image size). Enough values per channel for batch-norm, yet few in all: see kinks.py.
INPUTS = {
    "resnet18": (4, 33), "resnet34": (4, 33), "resnet50": (4, 33), "resnet101": (4, 33), "resnet152": (4, 33),
    "resnet50_v1": (4, 33), "vgg16": (2, 37), "alexnet": (2, 67), "trivial": (6, 33),
    "resnext50_32x4d": (4, 33), "wide_resnet50_2": (4, 33), "vgg11": (2, 37), "vgg13": (2, 37), "vgg19": (2, 37),
    "googlenet": (8, 65), "inception_v3": (4, 107), "mobilenet_v2": (4, 33), "lenet5": (4, 12),
    "densenet121": (8, 33), "densenet169": (8, 33), "densenet201": (8, 33),
    "squeezenet1_0": (4, 37), "squeezenet1_1": (4, 37), "efficientnet_b0": (4, 33),
    "regnet_y_3_2gf": (4, 33), "regnet_y_4gf": (4, 33), "convnext_tiny": (2, 64), "vit_b_16": (2, 48),
    "alexnet_cifar": (4, 10), "keras_cnn": (4, 14), "overfeat": (2, 71),
    "resnet20_v2": (6, 20), "resnet32_v2": (6, 20), "resnet44_v2": (6, 20), "resnet56_v2": (6, 20),
    "resnet110_v2": (6, 20), "densenet40_k12": (6, 12), "densenet100_k12": (6, 12), "densenet100_k24": (6, 12),
    "densenet40_k12_paper": (6, 12), "densenet100_k12_paper": (6, 12), "densenet100_k24_paper": (6, 12),
    "resnet101_v1": (4, 33), "resnet152_v1": (4, 33), "resnet50_v2": (4, 33), "resnet101_v2": (4, 33),
    "resnet152_v2": (4, 33), "resnetv2_50": (4, 33), "keras_resnet50": (4, 33), "keras_inception_v3": (4, 107),
    "inception_v4": (5, 107), "nasnet_mobile": (4, 65), "nasnet_large": (2, 65), "mlp": (4, 52),
    "frameworks_cnn": (4, 12), "resnet9": (4, 16), "airbench94": (6, 16), "resnet18_cifar": (4, 16),
    "resnet20": (6, 20), "resnet32": (6, 20), "resnet44": (6, 20), "resnet56": (6, 20), "resnet110": (6, 20),
}
# Evaluation has no statistics of the batch: where many images leave too small a margin, one is enough.
EVALUATED = {"inception_v4": 1}
# Weight of the losses of auxiliary heads: of the papers, and of the PyTorch tutorial on fine-tuning.
AUXILIARY_WEIGHT = {"googlenet": 0.3, "inception_v3": 0.4}
# The head of inception_v3 needs large images, where some ReLU is near its kink: loss and the head's gradients only.
HEAD = {"model": "inception_v3", "prefix": "AuxLogits.", "batch": 3, "imageSize": 299}

# Of a detector the mean of the outputs over the boxes, the loss, and the gradients of the heads: in images of this size
# some ReLU is near its kink.
BOXES = {"model": "ssd300", "batch": 2, "imageSize": 300, "classes": CLASSES, "prefixes": ["loc.", "conf."]}


def network(name, size, classes, with_head=True):
    if name in references.MODELS:
        return references.MODELS[name](classes, size)
    options = {"init_weights": False} if name in AUXILIARY_WEIGHT else {}
    if name == "inception_v3":
        options["aux_logits"] = with_head
    if name.startswith("vit"):
        options = {"image_size": size}
    return getattr(torchvision.models, name)(num_classes=classes, weights=None, **options)


def build(name, training, dtype, with_head=False):
    model = network(name, INPUTS.get(name, (0, 0))[1], CLASSES, with_head)
    batch_norms = set()
    for path, module in model.named_modules():
        if isinstance(module, (torch.nn.Dropout, torchvision.ops.StochasticDepth)):
            module.p = 0.0
        if isinstance(module, torch.nn.BatchNorm2d):
            batch_norms.update((f"{path}.weight", f"{path}.bias"))
    with torch.no_grad():
        for key, value in list(model.named_parameters()) + list(model.named_buffers()):
            if not key.endswith("num_batches_tracked"):
                value.copy_(tensor(key, tuple(value.shape), key in batch_norms))
    return model.to(dtype).train(training)


def images_of(name, training, k):
    batch, size = INPUTS[name]
    batch = batch if training else EVALUATED.get(name, batch)
    return tensor(f"input.{k}", (batch, 3, size, size))


def run(name, training, dtype, k):
    images = images_of(name, training, k).to(dtype)
    return run_on(build(name, training, dtype), images, f"input.{k}", AUXILIARY_WEIGHT.get(name))


def run_on(model, images, image_name, auxiliary_weight):
    outputs = model(images)
    logits, *auxiliary = outputs if isinstance(outputs, tuple) else (outputs,)
    labels = torch.tensor([label(row, CLASSES) for row in range(len(logits))])
    loss = torch.nn.functional.cross_entropy(logits, labels)
    for more in auxiliary:
        loss = loss + auxiliary_weight * torch.nn.functional.cross_entropy(more, labels)
    loss.backward()
    zero = torch.zeros(())  # an auxiliary head in evaluation
    result = {"input": image_name, "logits": logits.detach(), "loss": loss.detach(),
              "gradients": {n: (zero if p.grad is None else p.grad.double().norm()) for n, p in model.named_parameters()}}
    if model.training:
        result["statistics"] = {n: b.double().norm() for n, b in model.named_buffers()
                                if not n.endswith("num_batches_tracked")}
    return result


def head_of():
    size = HEAD["imageSize"]
    images = tensor("input.0", (HEAD["batch"], 3, size, size))
    found = {}
    for dtype in (torch.float64, torch.float32):
        model = build(HEAD["model"], True, dtype, with_head=True)
        result = run_on(model, images.to(dtype), "input.0", AUXILIARY_WEIGHT[HEAD["model"]])
        result["gradients"] = {n: g for n, g in result["gradients"].items() if n.startswith(HEAD["prefix"])}
        found[dtype] = result
    exact = found[torch.float64]
    print(f"{HEAD['model']} head: loss {exact['loss']:.4f}, {float32_error(exact, found[torch.float32])}", flush=True)
    return {**HEAD, **rounded({key: exact[key] for key in ("input", "loss", "gradients")})}


def boxes_of():
    images = tensor("input.0", (BOXES["batch"], 3, BOXES["imageSize"], BOXES["imageSize"]))
    objects = [boxes(row, CLASSES).double() for row in range(BOXES["batch"])]
    found = {}
    for dtype in (torch.float64, torch.float32):
        model = build(BOXES["model"], True, dtype)
        outputs = model(images.to(dtype))
        loss = multibox.loss(outputs.double(), objects)
        loss.backward()
        found[dtype] = {"input": "input.0", "logits": outputs.detach().mean(2), "loss": loss.detach(), "gradients": {
            n: p.grad.double().norm() for n, p in model.named_parameters() if n.startswith(tuple(BOXES["prefixes"]))}}
    exact = found[torch.float64]
    print(f"{BOXES['model']}: loss {exact['loss']:.4f}, {float32_error(exact, found[torch.float32])}", flush=True)
    return {**BOXES, **rounded(exact)}


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    if isinstance(value, torch.Tensor):
        return rounded(value.tolist())
    if isinstance(value, list):
        return [rounded(inner) for inner in value]
    return float(f"{value:.10g}") if isinstance(value, float) else value


def float32_error(exact, single):
    logits = (single["logits"] - exact["logits"]).norm() / exact["logits"].norm()
    floor = 1e-3 * max(exact["gradients"].values())
    worst = max((abs(single["gradients"][n] - g) / max(g, floor), n) for n, g in exact["gradients"].items())
    return f"float32: logits {logits:.1e}, worst gradient norm {worst[0]:.1e} ({worst[1]})"


def golden_of(name, mode, stored=None):
    training = mode == "train"
    model = build(name, training, torch.float64)
    if stored:
        k = int(stored[mode]["input"].split(".")[1])
        margin = kinks.margin_of(model, images_of(name, training, k), 0)
    else:
        margin, k = kinks.farthest(model, lambda k: images_of(name, training, k), *kinks.PATIENCE)
    exact = run(name, training, torch.float64, k)
    error = float32_error(exact, run(name, training, torch.float32, k))
    print(f"{name} {mode}: loss {exact['loss']:.4f}, margin {margin:.1e} with images {k}, {error}", flush=True)
    return rounded(exact)


def differences(stored, found, where):
    """Where two trees of numbers differ by more than rounding in float64 explains."""
    if isinstance(stored, dict) and isinstance(found, dict) and stored.keys() == found.keys():
        return [row for key in stored for row in differences(stored[key], found[key], f"{where}.{key}")]
    if isinstance(stored, list) and isinstance(found, list) and len(stored) == len(found):
        return [row for i, pair in enumerate(zip(stored, found)) for row in differences(*pair, f"{where}[{i}]")]
    if isinstance(stored, float) and isinstance(found, float):
        same = abs(stored - found) <= 1e-7 * max(abs(stored), 1e-3)
        if ".errors." in where:  # rounding, which differs by processor
            same = stored / 4 <= found <= 4 * stored or max(stored, found) < 1e-5
    else:
        same = stored == found
    return [] if same else [f"{where}: stored {stored}, found {found}"]


def check(path, stored, golden):
    rows = differences(stored, golden, path.stem)
    more = [f"and {len(rows) - 10} more"] if len(rows) > 10 else []
    print("\n".join(rows[:10] + more) or f"{path.name}: as stored", flush=True)
    return not rows


def at_small_size(name, stored):
    batch, size = INPUTS[name]
    golden = {"model": name, "batch": batch, "imageSize": size, "classes": CLASSES}
    golden.update({mode: golden_of(name, mode, stored) for mode in ("train", "eval")})
    if name == HEAD["model"]:
        golden["head"] = head_of()
    return golden


def flops_of(name, _):
    size, classes = flops.input_of(name)
    found = flops.count(network(name, size, classes), size, classes)
    print(f"{name}: {found}", flush=True)
    return found


def steps_of(name, stored):
    return steps.of(name, lambda dtype: build(name, True, dtype), lambda k: images_of(name, True, k),
                    stored and stored.get("steps"))


def full_size_of(name, _):
    return full_size.of(name, lambda dtype: build(name, True, dtype))


# Of some networks or of all, beside the numbers of a step at a small size.
SECTIONS = {"flops": flops_of, "steps": steps_of, "fullSize": full_size_of}


def golden_numbers(name, stored, only):
    golden = {}
    if not only:
        golden = boxes_of() if name == BOXES["model"] else at_small_size(name, stored)
    for section in [only] if only else SECTIONS:
        numbers = SECTIONS[section](name, stored)
        if numbers is not None:
            golden[section] = rounded(numbers)
    return golden


def arguments():
    given = sys.argv[1:]
    only = next((text.removeprefix("--only=") for text in given if text.startswith("--only=")), None)
    if only and only not in SECTIONS:
        sys.exit(f"make_golden.py: --only={only}: valid: {', '.join(SECTIONS)}")
    names = [text for text in given if not text.startswith("--")]
    unknown = [name for name in names if name not in INPUTS and name != BOXES["model"]]
    if unknown:
        sys.exit(f"make_golden.py: INPUTS has no row of {', '.join(unknown)}")
    return "--check" in given, only, names


def main():
    checks, only, names = arguments()
    same = True
    for name in names or [*INPUTS, BOXES["model"]]:
        path = pathlib.Path(__file__).parent / f"{name}.json"
        stored = json.loads(path.read_text()) if checks or only else None
        golden = golden_numbers(name, stored if checks else None, only)
        if checks:
            same = check(path, {key: stored[key] for key in golden} if only else stored, golden) and same
        else:
            path.write_text(json.dumps({**(stored or {}), **golden}, indent=0) + "\n")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
