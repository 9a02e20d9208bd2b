"""Feeds `tandem bench --input=python-queue:FILE.py:FUNCTION` and `python-dataset:FILE.py:FUNCTION`; Tandem starts it.

python-queue: FUNCTION() yields batches (images, labels). python-dataset: it yields samples (image, label), which are
joined to batches here. An image is [height, width, 3] of uint8, or normalised [height, width, 3] or [3, height, width]
of float32 or float16. Arrays are NumPy's, or anything else with Python's buffer protocol. A label of a sample is a
number, or the flags of its classes, which are copied. With several producers FUNCTION is called with worker=0, 1, ...
and workers=N, and yields a share each.

Batches go through shared memory (descriptor 4): one 64-bit word for each slot, 1 while a batch lies there, then, behind
`head` bytes, the slots. A batch is a message of tensorpack's zmq_ops. Descriptor 3 takes a line for each: "frame
SLOT BYTES", "end", or "error TEXT".
"""
import importlib.util
import inspect
import json
import mmap
import os
import random
import struct
import sys
import time
import traceback

TYPES = {"B": 4, "b": 6, "?": 10, "h": 5, "H": 17, "i": 3, "I": 22, "l": 9, "q": 9, "L": 23, "Q": 23, "e": 19, "f": 1,
         "d": 2}


def view_of(array):
    """A memoryview of an array, in row-major order."""
    if not isinstance(array, memoryview):
        if hasattr(array, "numpy"):   # PyTorch's and TensorFlow's tensors
            array = array.numpy()
        if hasattr(array, "flags") and not array.flags["C_CONTIGUOUS"]:
            array = array.copy(order="C")
        array = memoryview(array)
    if array.format.lstrip("@=<") not in TYPES:
        raise TypeError(f"values of type '{array.format}' cannot be sent; numbers of at most 64 bits can")
    return array


def head_of(view, shape):
    return struct.pack(f"<ii{len(shape)}iq", TYPES[view.format.lstrip("@=<")], len(shape), *shape,
                       view.itemsize * product(shape))


def product(shape):
    count = 1
    for side in shape:
        count *= side
    return count


class Slots:
    """The shared memory, into which messages are written."""

    def __init__(self, head, count, size):
        self.head, self.count, self.size, self.next = head, count, size, 0
        self.parent = os.getppid()
        self.bytes = memoryview(mmap.mmap(4, head + count * size))
        self.full = self.bytes[:8 * count].cast("q")

    def wait(self):
        """The next slot that is free: Tandem may keep some longer than others."""
        while all(self.full):
            if os.getppid() != self.parent:
                sys.exit(0)   # nobody reads any more
            time.sleep(0.0002)
        while self.full[self.next]:
            self.next = (self.next + 1) % self.count
        begin = self.head + self.next * self.size
        return self.bytes[begin:begin + self.size]

    def done(self, size):
        self.full[self.next] = 1
        say(f"frame {self.next} {size}")


def say(line):
    try:
        os.write(3, (line.replace("\n", " ") + "\n").encode())
    except BrokenPipeError:
        sys.exit(0)


class Message:
    """A message in a slot: its arrays, of which the values are written when they come."""

    def __init__(self, slot, arrays):
        self.slot, self.at = slot, 0
        self.put(struct.pack("<i", arrays))

    def put(self, data):
        end = self.at + len(data)
        if end > len(self.slot):
            raise ValueError(f"a batch has more than {len(self.slot)} bytes, which is more than this run's batches need")
        self.slot[self.at:end] = data
        self.at = end

    def put_array(self, array):
        view = view_of(array)
        self.put(head_of(view, view.shape))
        self.put(view.cast("B") if view.ndim else view.tobytes())


def send_batches(batches, slots, options):
    for batch in batches:
        images, labels = batch
        message = Message(slots.wait(), 2)
        message.put_array(images)
        message.put_array(labels)
        slots.done(message.at)


def send_samples(samples, slots, options):
    count = options["batch"]
    labels, first, message = [], None, None
    for image, label in samples:
        view = view_of(image)
        if not labels:
            message = Message(slots.wait(), 2)
            message.put(head_of(view, (count, *view.shape)))
            first = view
        if (view.shape, view.format) != (first.shape, first.format):
            raise ValueError(f"images of one batch are {first.shape} '{first.format}' and {view.shape} '{view.format}'")
        message.put(view.cast("B"))
        labels.append(label_of(label))
        if len(labels) == count:
            put_labels(message, labels)
            slots.done(message.at)
            labels = []


class Flags:
    """A copy of a label that is an array: the generator may fill its memory again before the batch is whole."""

    def __init__(self, view):
        self.format, self.itemsize, self.shape, self.bytes = view.format, view.itemsize, view.shape, view.tobytes()


def label_of(label):
    """A number, or the flags of a label that has a shape."""
    array = label.numpy() if hasattr(label, "numpy") else label
    try:
        sides = memoryview(array).ndim
    except TypeError:   # a number of Python's
        sides = 0
    return Flags(view_of(array)) if sides else int(label)


def form_of(label):
    return f"{label.shape} '{label.format}'" if isinstance(label, Flags) else "a number"


def put_labels(message, labels):
    forms = sorted({form_of(label) for label in labels})
    if len(forms) > 1:
        raise ValueError(f"labels of one batch are {' and '.join(forms)}; they must have one shape and type")
    if isinstance(labels[0], Flags):
        message.put(head_of(labels[0], (len(labels), *labels[0].shape)))
        for label in labels:
            message.put(label.bytes)
        return
    message.put(struct.pack("<iiiq", TYPES["q"], 1, len(labels), 8 * len(labels)))
    message.put(struct.pack(f"<{len(labels)}q", *labels))


def usual_batches(options):
    """One batch of random images, again and again, as tensorpack's FakeData."""
    count, height, width = options["batch"], options["height"], options["width"]
    source = random.Random(options["worker"])
    images = memoryview(source.randbytes(count * height * width * 3)).cast("B", (count, height, width, 3))
    labels = struct.pack(f"<{count}q", *(source.randrange(options["classes"]) for _ in range(count)))
    while True:
        yield images, memoryview(labels).cast("q")


def usual_samples(options):
    for images, labels in usual_batches(options):
        size = images.nbytes // len(images)
        shape = images.shape[1:]
        flat = images.cast("B")
        for i, label in enumerate(labels):
            yield flat[i * size:(i + 1) * size].cast("B", shape), label


def generator_of(argument, options):
    path, _, name = argument.rpartition(":")
    if not path or not name:
        raise ValueError(f"'{argument}' must be FILE.py:FUNCTION")
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location(os.path.splitext(os.path.basename(path))[0], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function = getattr(module, name)
    if not callable(function):
        return function
    if {"worker", "workers"} <= set(inspect.signature(function).parameters):
        return function(worker=options["worker"], workers=options["workers"])
    if options["workers"] > 1:
        raise TypeError(f"{name}() takes no worker and workers, so it cannot be shared by {options['workers']} "
                        "processes; use --producers=1")
    return function()


def main():
    options = json.loads(sys.argv[1])
    send, usual = {"batches": (send_batches, usual_batches), "samples": (send_samples, usual_samples)}[options["yields"]]
    try:
        slots = Slots(options["head"], options["slots"], options["slotBytes"])
        send(generator_of(options["argument"], options) if options["argument"] else usual(options), slots, options)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as failure:
        traceback.print_exc()
        say(f"error {type(failure).__name__}: {failure}")
        sys.exit(1)
    say("end")


if __name__ == "__main__":
    main()
