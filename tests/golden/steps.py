"""Two updates of a network by PyTorch's own optimizers in float64: losses, change of each parameter, running
statistics. Images of the second step are chosen on the updated network, as those of the first step are (kinks.py)."""
import copy

import torch

import kinks
import marks

# Without batch-norm, and with it, at two widths. (Where a shift only feeds another batch-norm its gradient is nothing but
# rounding, and Adam makes whole steps of it: no MobileNet here.)
NETWORKS = ("lenet5", "resnet20", "resnet18", "squeezenet1_1")
RULES = {
    "sgd": (torch.optim.SGD, {"lr": 0.01, "momentum": 0.9, "weight_decay": 1e-3}),
    "adam": (torch.optim.Adam, {"lr": 1e-3, "weight_decay": 1e-3}),
    "adamw": (torch.optim.AdamW, {"lr": 1e-3, "weight_decay": 1e-2}),
}
STEPS = 2


def train(model, rule, names, images_of):
    """Steps with the images of these names; those that are missing are chosen and added. Returns losses and changes."""
    make, options = RULES[rule]
    optimizer, losses = make(model.parameters(), **options), []
    before = {n: p.detach().clone() for n, p in model.named_parameters()}
    for step in range(STEPS):
        if len(names) == step:
            names.append(f"input.{kinks.farthest(copy.deepcopy(model), images_of, *kinks.PATIENCE)[1]}")
        images = images_of(names[step].split(".")[1]).to(next(model.parameters()).dtype)
        optimizer.zero_grad()
        losses.append(marks.cross_entropy(model(images)))
        losses[-1].backward()
        optimizer.step()
    changes = {n: marks.mark(n, p.double() - before[n].double()) for n, p in model.named_parameters()}
    return [loss.detach() for loss in losses], changes


def after(rule, make, images_of, names):
    exact, single = make(torch.float64), make(torch.float32)
    losses, changes = train(exact, rule, names, images_of)
    losses32, changes32 = train(single, rule, names, images_of)
    error = {"loss": abs(losses32[-1] / losses[-1] - 1), "changes": marks.distances(changes, changes32)}
    return {"options": RULES[rule][1], "inputs": names, "losses": losses, "changes": changes,
            "statistics": marks.norms_of_statistics(exact), "errors": {"float32": error}}


def of(name, make, images_of, stored):
    """`make(dtype)`: the network with the formula's weights. `images_of(k)`: its images. `stored`: names the images."""
    if name not in NETWORKS:
        return None
    found = {}
    for rule in RULES:
        names = list(stored[rule]["inputs"]) if stored else []
        found[rule] = after(rule, make, images_of, names)
        losses = [round(loss.item(), 4) for loss in found[rule]["losses"]]
        print(f"{name} {rule}: losses {losses} with {names}, {marks.short(found[rule]['errors'])}", flush=True)
    return found
