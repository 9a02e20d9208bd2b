"""A training by a recipe of Tandem (recipes/*.json), as a program of PyTorch needs it: its options, updates and rates."""
import json
import math
import pathlib

RECIPES = pathlib.Path(__file__).resolve().parents[2] / "recipes"
# What the programs here do. A recipe with anything else would be another training there.
KNOWN = {"model", "augment", "epochs", "batch", "lr", "lr-scaling", "lr-batch", "warmup-epochs", "warmup-from", "schedule",
         "lr-steps", "lr-factor", "momentum", "weight-decay"}


class Unknown(Exception):
    """A recipe that is not there, or that is not known here."""


def options_of(name):
    path = RECIPES / f"{name}.json"
    if not path.is_file():
        raise Unknown(f"no recipe '{name}'; recipes/ has {', '.join(sorted(file.stem for file in RECIPES.glob('*.json')))}")
    options = json.loads(path.read_text())["options"]
    unknown = sorted(set(options) - KNOWN)
    if unknown:
        raise Unknown(f"recipe {name}: PyTorch's side has no {', '.join(unknown)}; it knows {', '.join(sorted(KNOWN))}")
    return options


class Course:
    """Updates and rates of a training of `images` per epoch, in global batches of `batch`.

    Batches are cut from the endless sequence of epochs, so an epoch need not be a whole number of updates."""

    def __init__(self, options, images, batch):
        self.options, self.images, self.batch = options, images, batch
        self.per_epoch = images / batch
        self.steps = self.end_of(options["epochs"])

    def end_of(self, epochs):
        """Updates until the last image of so many epochs was in a batch."""
        return max(1, math.ceil(epochs * self.per_epoch * (1 - 1e-9)))

    def ends(self):
        """(epoch, update) of each whole epoch, and of the end."""
        whole = [(epoch, self.end_of(epoch)) for epoch in range(1, math.floor(self.options["epochs"] + 1e-9) + 1)]
        return whole if whole and whole[-1][1] == self.steps else [*whole, (self.options["epochs"], self.steps)]

    def base_rate(self):
        scaling = self.options.get("lr-scaling", "none")
        if scaling not in ("none", "linear"):
            raise Unknown(f"lr-scaling {scaling}: PyTorch's side knows none and linear")
        ratio = self.batch / self.options["lr-batch"] if scaling == "linear" else 1
        return self.options["lr"] * ratio

    def rate(self, step):
        """Of the update with this number, from 0: a line up to the schedule's first value, then the schedule."""
        warmup = self.options.get("warmup-epochs", 0) * self.per_epoch
        first = self.options.get("warmup-from", 0)
        grown = first + (1 - first) * step / warmup if step < warmup else 1
        return self.base_rate() * grown * self.factor(max(0, step - warmup), max(0, self.steps - warmup), step / self.per_epoch)

    def factor(self, step, steps, epoch):
        schedule = self.options.get("schedule", "constant")
        if schedule == "cosine":
            return 0.5 * (1 + math.cos(math.pi * min(1, step / steps))) if steps else 0
        if schedule == "piecewise":
            falls = [float(text) for text in self.options["lr-steps"].split("+")]
            return self.options["lr-factor"] ** sum(epoch + 1e-9 >= fall for fall in falls)
        if schedule == "constant":
            return 1
        raise Unknown(f"schedule {schedule}: PyTorch's side knows cosine, piecewise and constant")
