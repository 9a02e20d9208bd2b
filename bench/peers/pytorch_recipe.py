#!/usr/bin/env python3
"""Trains resnet20 on Fashion-MNIST by a recipe of Tandem, with PyTorch, and prints one JSON line.

Written after the recipe and docs/TRAINING.md: the network of cifar_resnet.py, weights of convolutions normal with
variance 2 / fan-in and of the classifier 1 / fan-in, images of 28 x 28 in 32 x 32 with a random crop after 4 more zeros
and a flip, batches cut from the endless sequence of shuffled epochs, SGD in which all parameters decay, a rate for each
update, an evaluation by the running statistics (of several processes: their mean) after each epoch.

All images lie in memory, ready padded; a batch is gathered, cropped and flipped by one indexing. With --processes=N it is
DistributedDataParallel over gloo, one process per core; each takes its share of the global batch. With --trial=N updates
only their rate is measured. Two updates before the clock starts, which change nothing, compile and allocate.
"""
import argparse
import contextlib
import copy
import gzip
import json
import pathlib
import sys
import time

import processes
import recipe

IMAGE, SIDE, PADDING, WARMUP, EVALUATED = 28, 32, 4, 2, 500


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f"pytorch_recipe: {message}\n")


def parse():
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("--recipe", default="fashion-mnist")
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder with the IDX files, plain or .gz")
    parser.add_argument("--epochs", type=float, help="in place of the recipe's")
    parser.add_argument("--warmup-epochs", type=float, help="in place of the recipe's")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32", help="bf16: by autocast")
    parser.add_argument("--mode", choices=["eager", "compile"], default="eager")
    parser.add_argument("--layout", choices=["channels_last", "contiguous"], default="channels_last")
    parser.add_argument("--cpus", default="0,1", help="CPUs to run on, shared by one process or one per process")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--trial", type=int, default=0, help="updates to measure, without a training")
    parser.add_argument("--rank", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--rendezvous", help=argparse.SUPPRESS)
    options = parser.parse_args()
    given = recipe.options_of(options.recipe)
    for name, wanted in {"model": "resnet20", "augment": "standard"}.items():
        if given[name] != wanted:
            parser.error(f"--recipe={options.recipe}: its {name} is {given[name]}; only {wanted} is written here")
    if given["batch"] % options.processes:
        parser.error(f"--processes={options.processes}: cannot share {given['batch']} images equally")
    changed = {"epochs": options.epochs, "warmup-epochs": options.warmup_epochs}
    options.given = given | {name: value for name, value in changed.items() if value is not None}
    return options


# Images

def idx(folder, name, header):
    """The bytes of an IDX file behind its header."""
    import torch
    for path, opened in ((folder / name, open), (folder / f"{name}.gz", gzip.open)):
        if path.is_file():
            with opened(path, "rb") as file:
                return torch.frombuffer(bytearray(file.read()[header:]), dtype=torch.uint8)
    sys.exit(f"pytorch_recipe: --data={folder}: has no {name}, nor {name}.gz")


def split(folder, name):
    """Images [N, 28, 28] and labels [N]."""
    return idx(folder, f"{name}-images-idx3-ubyte", 16).view(-1, IMAGE, IMAGE), idx(folder, f"{name}-labels-idx1-ubyte", 8).long()


class Images:
    """A split in memory, padded, with the normalisation of the training images."""

    def __init__(self, folder, name, layout, mean=None, deviation=None):
        import torch
        bytes_, self.labels = split(folder, name)
        self.layout = layout
        self.mean = bytes_.double().mean().item() if mean is None else mean
        self.deviation = bytes_.double().std(correction=0).item() if deviation is None else deviation
        border = (SIDE - IMAGE) // 2 + PADDING
        self.padded = torch.nn.functional.pad(bytes_, (border,) * 4)
        self.all_rows = torch.arange(SIDE)

    def __len__(self):
        return len(self.labels)

    def pixels(self, indices, rows, columns):
        """[N, 3, 32, 32] in fp32, of three equal channels."""
        grey = self.padded[indices[:, None, None], rows[:, :, None], columns[:, None, :]]
        grey = grey.float().sub_(self.mean).div_(self.deviation)
        if self.layout == "channels_last":
            return grey[..., None].expand(-1, -1, -1, 3).contiguous().permute(0, 3, 1, 2)
        return grey[:, None].expand(-1, 3, -1, -1).contiguous()

    def changed(self, indices, generator):
        """Cropped at random, and every other one flipped."""
        import torch
        count = len(indices)
        at = torch.randint(0, 2 * PADDING + 1, (2, count, 1), generator=generator)
        flipped = torch.rand(count, 1, generator=generator) < 0.5
        columns = torch.where(flipped, SIDE - 1 - self.all_rows, self.all_rows)
        return self.pixels(indices, at[0] + self.all_rows, at[1] + columns)

    def as_is(self, indices):
        middle = (PADDING + self.all_rows).expand(len(indices), SIDE)
        return self.pixels(indices, middle, middle)


class Order:
    """The endless sequence of shuffled epochs."""

    def __init__(self, images, generator):
        import torch
        self.images, self.generator = images, generator
        self.rest = torch.empty(0, dtype=torch.int64)

    def take(self, count):
        import torch
        while len(self.rest) < count:
            self.rest = torch.cat([self.rest, torch.randperm(self.images, generator=self.generator)])
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken


# The network

def network(layout):
    import torch
    from cifar_resnet import CifarResNet
    made = CifarResNet(3)
    for module in made.modules():
        if isinstance(module, torch.nn.Conv2d):
            torch.nn.init.kaiming_normal_(module.weight, mode="fan_in", nonlinearity="relu")
        if isinstance(module, torch.nn.Linear):
            torch.nn.init.normal_(module.weight, std=module.in_features ** -0.5)
            torch.nn.init.zeros_(module.bias)
    return made.to(memory_format=torch.channels_last if layout == "channels_last" else torch.contiguous_format)


class Training:
    def __init__(self, options):
        import torch
        self.options, self.share = options, options.given["batch"] // options.processes
        self.train = Images(options.data, "train", options.layout)
        self.test = Images(options.data, "t10k", options.layout, self.train.mean, self.train.deviation)
        self.course = recipe.Course(options.given, len(self.train), options.given["batch"])
        torch.manual_seed(options.seed)
        self.network = network(options.layout)
        self.trained = self.network
        if options.processes > 1:
            torch.distributed.init_process_group("gloo", init_method=f"file://{options.rendezvous}", rank=options.rank,
                                                 world_size=options.processes)
            self.trained = torch.nn.parallel.DistributedDataParallel(self.network, broadcast_buffers=False,
                                                                     gradient_as_bucket_view=True)
        if options.mode == "compile":
            self.trained = torch.compile(self.trained)
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=1.0, momentum=options.given["momentum"],
                                         weight_decay=options.given["weight-decay"], fused=True)
        self.cast = (torch.autocast("cpu", torch.bfloat16) if options.precision == "bf16" else contextlib.nullcontext())
        self.rank = options.rank or 0
        self.order = Order(len(self.train), torch.Generator().manual_seed(options.seed))  # the same in all processes
        self.changes = torch.Generator().manual_seed(1000 * options.seed + self.rank)
        self.sum, self.count = torch.zeros(()), 0

    def backward(self):
        import torch
        mine = self.order.take(self.options.given["batch"])[self.rank * self.share:(self.rank + 1) * self.share]
        images, labels = self.train.changed(mine, self.changes), self.train.labels[mine]
        self.optimizer.zero_grad(set_to_none=True)
        with self.cast:
            outputs = self.trained(images)
        loss = torch.nn.functional.cross_entropy(outputs.float(), labels)
        loss.backward()
        return loss.detach()

    def warm_up(self):
        kept = copy.deepcopy(self.network.state_dict())
        for _ in range(WARMUP):
            self.backward()
        self.network.load_state_dict(kept)
        self.wait()

    def step(self, number):
        loss = self.backward()
        self.optimizer.param_groups[0]["lr"] = self.course.rate(number)
        self.optimizer.step()
        self.sum, self.count = self.sum + loss, self.count + 1

    def rate(self):
        """Of the last update."""
        return self.optimizer.param_groups[0]["lr"]

    def joined(self, tensor):
        """Summed over the processes."""
        import torch
        if self.options.processes > 1:
            torch.distributed.all_reduce(tensor)
        return tensor

    def wait(self):
        import torch
        if self.options.processes > 1:
            torch.distributed.barrier()

    def end(self):
        """Processes leave their group together: threads of one that ends alone may abort it."""
        import torch
        if self.options.processes > 1:
            torch.distributed.barrier()
            torch.distributed.destroy_process_group()

    def training_loss(self):
        """Mean over the updates since the last call."""
        mean = self.joined(self.sum / self.count).item() / self.options.processes
        self.sum, self.count = self.sum * 0, 0
        return mean

    def evaluate(self):
        """Loss and accuracy over the test images. Each process takes its share."""
        import torch
        kept = [buffer.clone() for buffer in self.network.buffers()]
        totals = torch.zeros(2, dtype=torch.float64)
        with torch.inference_mode():
            for buffer in self.network.buffers():
                if buffer.is_floating_point():
                    self.joined(buffer).div_(self.options.processes)
            self.network.eval()
            for indices in torch.arange(self.rank, len(self.test), self.options.processes).split(EVALUATED):
                with self.cast:
                    outputs = self.network(self.test.as_is(indices))
                outputs, labels = outputs.float(), self.test.labels[indices]
                totals[0] += torch.nn.functional.cross_entropy(outputs, labels, reduction="sum").item()
                totals[1] += (outputs.argmax(1) == labels).sum().item()
            self.network.train()
            for buffer, values in zip(self.network.buffers(), kept):
                buffer.copy_(values)
        loss, right = (self.joined(totals) / len(self.test)).tolist()
        return loss, right


def measured(training, steps):
    """images/s."""
    begin = time.monotonic()
    for number in range(steps):
        training.step(number)
    training.wait()
    return {"images_per_s": training.options.given["batch"] * steps / (time.monotonic() - begin)}


def trained(training):
    found, step, begin = [], 0, time.monotonic()
    for epoch, end in training.course.ends():
        started = time.monotonic()
        while step < end:
            training.step(step)
            step += 1
        training.wait()
        evaluating = time.monotonic()
        training_loss = training.training_loss()
        loss, accuracy = training.evaluate()
        now = time.monotonic()
        found.append({"epoch": epoch, "step": step, "training_loss": training_loss, "loss": loss, "accuracy": accuracy,
                      "training_s": evaluating - started, "evaluating_s": now - evaluating, "at_s": now - begin,
                      "rate": training.rate()})
    return {"epochs": found, "total_s": found[-1]["at_s"],
            "images_per_s": step * training.options.given["batch"] / sum(epoch["training_s"] for epoch in found)}


def train(options):
    import torch
    began = time.monotonic()
    training = Training(options)
    training.network.train()
    training.warm_up()
    facts = {"parameters": sum(parameter.numel() for parameter in training.network.parameters()),
             "threads": torch.get_num_threads(), "torch": torch.__version__, "start_s": time.monotonic() - began}
    found = measured(training, options.trial) if options.trial else trained(training)
    training.end()
    return found | facts


def main():
    options = parse()
    code = processes.entered(options)
    if code is not None:
        return code
    try:
        print(json.dumps(train(options)))
    except ImportError as failure:
        sys.exit(f"pytorch_recipe: {failure}; bench/peers/compare --print-python names a Python that has it")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except recipe.Unknown as failure:
        sys.exit(f"pytorch_recipe: {failure}")
