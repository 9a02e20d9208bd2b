"""Images, and the containers that others' packages write of them, whole or with a fault (verify-data)."""
import contextlib
import copy
import hashlib
import importlib.util
import io
import pickle
import struct
import sys
import types
from dataclasses import dataclass, field

SIDE, SHARDS = 32, 5


@dataclass
class Images:
    """What a container shall hold, in order: each image as a file has it, and what Pillow decodes of it."""
    files: list
    labels: list
    pixels: list   # arrays [SIDE, SIDE, 3], or [SIDE, SIDE] of grey ones
    numbers: dict = field(default_factory=dict)   # of the SHA-256 of pixels as networks get them

    def __post_init__(self):
        import numpy
        for number, image in enumerate(self.pixels):
            seen = image if image.ndim == 3 else numpy.stack([image] * 3, axis=2)
            self.numbers[hashlib.sha256(seen.tobytes()).digest()] = number
        if len(self.numbers) != len(self.pixels):
            raise ValueError("two images have the same pixels")

    def checksum(self, stored):
        """As 'tandem data inspect' has it: of each image's bytes as they are stored, with its label."""
        each = (hashlib.sha256(bytes(image) + struct.pack("<q", label)).hexdigest()
                for image, label in zip(stored, self.labels))
        return hashlib.sha256("".join(each).encode()).hexdigest()


def images_of(pictures, labels, kinds):
    """Of Pillow's pictures, each written as a file of a kind."""
    import numpy
    from PIL import Image
    files = []
    for picture, kind in zip(pictures, kinds):
        memory = io.BytesIO()
        picture.save(memory, kind)
        files.append(memory.getvalue())
    return Images(files, labels, [numpy.asarray(Image.open(io.BytesIO(file))) for file in files])


def shards(values):
    size = -(-len(values) // SHARDS)
    return [values[at:at + size] for at in range(0, len(values), size)]


def name_of(number, file):
    return f"{number:08}.{'png' if file.startswith(bytes([137]) + b'PNG') else 'jpg'}"


def write_folder(images, folder):
    for number, (file, label) in enumerate(zip(images.files, images.labels)):
        path = folder / f"class{label}" / name_of(number, file)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(file)


def write_webdataset(images, folder):
    import webdataset
    size = len(shards(images.files)[0])
    with webdataset.ShardWriter(str(folder / "train-%05d.tar"), maxcount=size, verbose=0) as sink:
        for number, (file, label) in enumerate(zip(images.files, images.labels)):
            key, kind = name_of(number, file).split(".")
            sink.write({"__key__": key, kind: file, "cls": label})


def tfrecord_writer():
    """The package's own beginning needs PyTorch, for its readers alone."""
    if "tfrecord" not in sys.modules:
        package = types.ModuleType("tfrecord")
        package.__path__ = importlib.util.find_spec("tfrecord").submodule_search_locations
        sys.modules["tfrecord"] = package
    from tfrecord.writer import TFRecordWriter
    return TFRecordWriter


def write_tfrecord(features):
    """`features`: of a file and its label, those of an Example."""
    def write(images, folder):
        for shard, (files, labels) in enumerate(zip(shards(images.files), shards(images.labels))):
            writer = tfrecord_writer()(str(folder / f"train-{shard:05}-of-{SHARDS:05}"))
            for file, label in zip(files, labels):
                writer.write(features(file, label))
            writer.close()
    return write


def features_of_imagenet(file, label):
    return {"image/encoded": (file, "byte"), "image/class/label": (label + 1, "int"), "image/height": (SIDE, "int"),
            "image/width": (SIDE, "int")}


def features_of_datasets(file, label):
    return {"image": (file, "byte"), "label": (label, "int")}


def write_lmdb(serializer, image_of):
    """As tensorpack's users write ImageNet: its LMDBSerializer, of datapoints [image, label]."""
    def write(images, folder):
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):   # bars and a log
            from tensorpack.dataflow import DataFromList, serialize
            from tensorpack.utils import serialize as serializers
            serialize.dumps = getattr(serializers, serializer).dumps
            points = [[image_of(file), label] for file, label in zip(images.files, images.labels)]
            serialize.LMDBSerializer.save(DataFromList(points, shuffle=False), str(folder / "train.lmdb"))
    return write


def as_array(file):
    import numpy
    return numpy.frombuffer(file, "uint8")


def planes_of(images):
    import numpy
    return numpy.stack(images.pixels).transpose(0, 3, 1, 2).reshape(len(images.pixels), -1)


def write_cifar(images, folder):
    """The Python version."""
    for shard, (planes, labels) in enumerate(zip(shards(planes_of(images)), shards(images.labels))):
        batch = {b"batch_label": b"training batch", b"labels": labels, b"data": planes.copy()}
        (folder / f"data_batch_{shard + 1}").write_bytes(pickle.dumps(batch, protocol=2))


def write_cifar_binary(images, folder):
    import numpy
    records = numpy.concatenate([numpy.array(images.labels, "uint8")[:, None], planes_of(images)], axis=1)
    for shard, part in enumerate(shards(records)):
        part.tofile(folder / f"data_batch_{shard + 1}.bin")


def write_idx(images, folder):
    import numpy
    for name, array in (("train-images-idx3-ubyte", numpy.stack(images.pixels)),
                        ("train-labels-idx1-ubyte", numpy.array(images.labels, "uint8"))):
        head = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
        (folder / name).write_bytes(head + array.tobytes())


# (name, writer, whether it stores pixels): of coloured images; of grey ones alone.
COLOURED = [("webdataset", write_webdataset, False),
            ("tfrecord, ImageNet's features", write_tfrecord(features_of_imagenet), False),
            ("tfrecord, TensorFlow Datasets' features", write_tfrecord(features_of_datasets), False),
            ("lmdb, arrays in pickles", write_lmdb("PickleSerializer", as_array), False),
            ("lmdb, bytes in MessagePack", write_lmdb("MsgpackSerializer", bytes), False),
            ("cifar, pickles", write_cifar, True), ("cifar, binary", write_cifar_binary, True)]
GREY = [("idx", write_idx, True)]


def labels_exchanged(order, labels):
    other = next(i for i, label in enumerate(labels) if label != labels[0])
    labels[0], labels[other] = labels[other], labels[0]


def images_exchanged(order, labels):
    for values in (order, labels):
        values[0], values[-1] = values[-1], values[0]


def an_image_dropped(order, labels):
    del order[7], labels[7]


def an_image_in_place_of_another(order, labels):
    order[7], labels[7] = order[8], labels[8]


FAULTS = [labels_exchanged, images_exchanged, an_image_dropped, an_image_in_place_of_another]


def with_fault(images, fault):
    order, labels = list(range(len(images.files))), list(images.labels)
    fault(order, labels)
    changed = copy.copy(images)
    changed.files, changed.labels = [images.files[number] for number in order], labels
    return changed
