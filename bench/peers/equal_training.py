"""One training by Tandem and by torchvision's network on equal batches (scripts/verify-training): Tandem's states update by
update, the batches that it took, and PyTorch's gradients and courses. `options` are those of the script."""
import json
import struct
import subprocess

import recipe

RECIPE, SEED = "imagenet-resnet50", 1
IMAGENET = 1_281_167   # images
BLOCK = 20             # updates between which Tandem is resumed: so many checkpoints lie on disk


class Failed(Exception):
    pass


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        raise Failed(f"exit {done.returncode} of {' '.join(map(str, command))}: {(done.stderr or done.stdout).strip()[-1000:]}")
    return done.stdout


def last_record(path):
    return json.loads(path.read_text().splitlines()[-1])


def given_of(options, **changed):
    """The recipe, with as many updates of warm-up as on ImageNet."""
    given = recipe.options_of(RECIPE)
    return given | {"warmup-epochs": given["warmup-epochs"] * IMAGENET / options.images} | changed


class Tandem:
    """A training by Tandem: its updates one by one."""

    def __init__(self, options, data, folder):
        self.options, self.data, self.folder, self.losses = options, data, folder, []
        self.shape = [f"--batch={options.batch}", f"--image-size={options.image_size}", f"--seed={SEED}", "--replicas=1",
                      *options.tandem_args]

    def start(self):
        """The initial weights by name. An update of a rate that is too small to change anything writes them."""
        from safetensors.torch import load_file
        path = self.folder / "start.safetensors"
        run(self.options.program, "bench", "--model=resnet50", f"--classes={self.options.classes}", "--lr=1e-30",
            "--weight-decay=0", "--steps=1", "--warmup=0", "--repeats=1", "--verify=off", "--allow-interference",
            f"--save-weights={path}", *self.shape)
        return {name: tensor for name, tensor in load_file(path).items() if "running" not in name}

    def train_until(self, last):
        """Goes on to this update. Returns the losses on the way."""
        epochs = lambda steps: steps * self.options.batch / self.options.images
        out = self.folder / "train.jsonl"
        run(self.options.program, "train", f"--recipe={RECIPE}", f"--data={self.data}", f"--epochs={epochs(last)!r}",
            *self.shape, f"--warmup-epochs={given_of(self.options)['warmup-epochs']!r}", "--validate-on=none",
            f"--checkpoint={self.folder / 'kept'}", f"--save-every={epochs(1)!r}", f"--keep={BLOCK + 1}",
            "--resume=auto", "--allow-changes", f"--out={out}")
        record = last_record(out)
        self.kernels = record["placement"]["kernels"]
        return record["losses"]

    def state(self, update):
        """Weights and velocities after it."""
        from safetensors.torch import load_file
        found = load_file(self.folder / "kept" / f"step-{update:09d}" / "state.safetensors")
        part = lambda begin: {name.removeprefix(begin): value for name, value in found.items() if name.startswith(begin)}
        return part("model."), part("optimizer.0.")

    def updates(self):
        """For each the states before and after it."""
        weights = self.start()
        before = weights, {name: value * 0 for name, value in weights.items()}
        for first in range(0, self.options.steps, BLOCK):
            last = min(first + BLOCK, self.options.steps)
            losses = self.train_until(last)
            if len(losses) != last - first:
                raise Failed(f"tandem train: {len(losses)} losses of updates {first + 1} to {last}")
            for update, loss in enumerate(losses, first + 1):
                self.losses.append(loss)
                after = self.state(update)
                yield before, after
                before = after


class Torch:
    """torchvision's resnet50 in a memory order."""

    def __init__(self, options, memory_format):
        import torch
        import torchvision
        self.network = torchvision.models.resnet50(weights=None, num_classes=options.classes)
        self.format = {"channels_last": torch.channels_last, "contiguous": torch.contiguous_format}[memory_format]
        self.network = self.network.to(memory_format=self.format).train()
        self.losses = []

    def load(self, weights):
        missing, unknown = self.network.load_state_dict(weights, strict=False)
        strange = [*unknown, *(name for name in missing if "running" not in name and "num_batches" not in name)]
        if strange:
            raise Failed(f"{len(strange)} names of weights are not torchvision's, first {strange[0]}")

    def backward(self, images, labels):
        """Leaves the gradients in the parameters."""
        import torch
        self.network.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(self.network(images.contiguous(memory_format=self.format)), labels)
        loss.backward()
        self.losses.append(loss.item())

    def velocities(self, state, given):
        """Those of SGD after a step from this state, by the gradients that are there."""
        weights, before = state
        return {name: given["momentum"] * before[name] + value.grad + given["weight-decay"] * weights[name]
                for name, value in self.network.named_parameters()}


class OwnCourse(Torch):
    """Goes on with its own weights."""

    def __init__(self, options, memory_format, start):
        import torch
        super().__init__(options, memory_format)
        self.load(start)
        given = given_of(options)
        self.course = recipe.Course(given, options.images, options.batch)
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=1.0, momentum=given["momentum"],
                                         weight_decay=given["weight-decay"])

    def step(self, images, labels):
        self.optimizer.param_groups[0]["lr"] = self.course.rate(len(self.losses))
        self.backward(images, labels)
        self.optimizer.step()


def batches(options, data, folder):
    """Images as ImageNet's are normalised, and labels: those of the training, in its order."""
    import torch
    import zmq
    mean, deviation = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    address = f"ipc://{folder}/batches"
    socket = zmq.Context.instance().socket(zmq.PULL)
    socket.setsockopt(zmq.RCVTIMEO, 120_000)
    socket.setsockopt(zmq.RCVHWM, options.steps + 1)  # all may wait: a sender whom nobody hears would connect anew
    socket.bind(address)
    sender = subprocess.Popen([options.program, "data", "serve", address, f"--data={data}", f"--batch={options.batch}",
                               f"--image-size={options.image_size}", f"--augment={given_of(options)['augment']}",
                               f"--seed={SEED}", f"--batches={options.steps}"], stdout=subprocess.DEVNULL)
    try:
        for _ in range(options.steps):
            images, labels = arrays_in(socket.recv())
            yield ((images.float() / 255 - mean) / deviation).permute(0, 3, 1, 2), labels.long()
    except zmq.Again:
        raise Failed("tandem data serve: no batch for 120 s") from None
    finally:
        sender.kill(), sender.wait(), socket.close(0)


def arrays_in(message):
    """Tensors of a message in the layout of tensorpack's zmq_ops: a count; for each type, dimensions, shape, bytes."""
    import torch
    types = {3: torch.int32, 4: torch.uint8, 9: torch.int64}
    count, at, found = struct.unpack_from("<i", message)[0], 4, []
    for _ in range(count):
        number, dimensions = struct.unpack_from("<ii", message, at)
        shape = struct.unpack_from(f"<{dimensions}i", message, at + 8)
        size = struct.unpack_from("<q", message, at + 8 + 4 * dimensions)[0]
        at += 16 + 4 * dimensions
        found.append(torch.frombuffer(bytearray(message[at:at + size]), dtype=types[number]).reshape(shape))
        at += size
    return found
