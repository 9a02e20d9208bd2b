#!/usr/bin/env python3
"""Writes the first seeds of tests/fuzz/corpus: make_seeds.py. Needs the files of tests/golden only.

Inputs that fuzzing found are files beside them, named by their hash.
"""
import gzip
import io
import json
import pathlib
import tarfile
import zipfile

HERE = pathlib.Path(__file__).parent
GOLDEN = HERE.parent / "golden" / "weights"
IMAGES = HERE.parent / "golden" / "images"


def safetensors(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header, separators=(",", ":")).encode()
    return len(text).to_bytes(8, "little") + text + data


def entry(shape, begin, end, dtype="F32"):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def safetensors_seeds():
    yield from ((path.stem, path.read_bytes()) for path in sorted(GOLDEN.glob("*.safetensors")))
    yield "empty", b""
    yield "short", b"\x02\0\0\0"
    yield "huge_header", b"\xff" * 8 + b"{}"
    yield "none", safetensors({})
    yield "metadata", safetensors({"__metadata__": {"a": "b\n\u00e4"}, "w": entry([2], 0, 8)}, bytes(8))
    yield "overlap", safetensors({"a": entry([2], 0, 8), "b": entry([2], 4, 12)}, bytes(12))
    yield "hole", safetensors({"a": entry([2], 0, 8), "b": entry([1], 12, 16)}, bytes(16))
    yield "overflow", safetensors({"a": entry([4194305, 4194305, 211106198978564], 0, 0)})
    yield "deep", safetensors(b'{"a":' + b"[" * 300)
    yield "twice", safetensors(b'{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{}}')
    yield "numbers", safetensors(b'{"a":{"dtype":"U8","shape":[1e3,-1,1.5],"data_offsets":[0,18446744073709551615]}}')
    yield "nul", safetensors(b'{"a\\u0000b":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}')


def pth_files():
    return sorted(GOLDEN.glob("*.p*t*"))


def zip_seeds():
    yield from ((path.stem, path.read_bytes()) for path in pth_files())
    yield "empty", b"PK\x05\x06" + bytes(18)
    yield "no_end", b"PK\x03\x04" + bytes(40)


def pickle_seeds():
    for path in pth_files():
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                yield path.stem, archive.read(next(n for n in archive.namelist() if n.endswith("data.pkl")))
    yield "system", b"\x80\x02cposix\nsystem\nX\x05\0\0\0touch\x85R."
    yield "self", b"\x80\x02]q\x01h\x01a."
    yield "marks", b"\x80\x02" + b"(" * 70
    yield "memo", b"\x80\x02h\x01."
    yield "long", b"\x80\x02\x8a\x09123456789."
    yield "dict", b"\x80\x02}(X\x01\0\0\0aK\x01X\x01\0\0\0bM\x01\x02u."


def network(nodes, **more):
    head = {"format": "tandem-network", "version": 1, "name": "n", "input": [3, 8, 8], "classes": 10}
    return json.dumps({**head, "nodes": nodes, **more}).encode()


def node(name, op, *inputs, **attributes):
    return {"name": name, "op": op, "inputs": list(inputs), **attributes}


def network_seeds():
    conv = node("conv", "conv", "input", outputs=4, kernel=[3, 3], padding=[1, 0, 1, 0], bias=False)
    tail = [node("pool", "global_avg_pool", "conv"), node("fc", "linear", "pool", outputs="classes")]
    whole = [conv, node("norm", "batch_norm", "conv", epsilon=1e-3, momentum=0.2), node("sum", "add", "conv", "norm"),
             node("flat", "flatten", "sum"), node("aux", "linear", "flat", outputs="classes"),
             node("drop", "dropout", "flat", probability=0.3), node("fc", "linear", "drop", outputs="classes")]
    yield "empty", b""
    yield "none", network([])
    yield "small", network([conv, *tail])
    yield "whole", network(whole, loss="binary_cross_entropy", batch=2, learning_rate=0.1,
                           auxiliaries=[{"value": "aux", "loss_weight": 0.3}])
    yield "cycle", network([node("conv", "conv", "fc", outputs=4), *tail])
    yield "unread", network([conv, node("extra", "relu", "conv"), *tail])
    yield "overflow", network([node("conv", "conv", "input", outputs=2**24, kernel=2**24, padding=2**24), *tail])
    yield "wide", network([conv, node("pad", "adaptive_avg_pool", "conv", output_size=2**24), *tail])
    yield "numbers", network([conv, *tail], batch=2**64 - 1)
    yield "deep", b'{"format":' + b"[" * 300
    yield "twice", b'{"format":"tandem-network","format":"tandem-network"}'
    yield "tokens", network([node("token", "class_token", "input"), node("place", "position_embedding", "token"),
                             node("look", "attention", "place", heads=3), node("first", "first_token", "look"),
                             node("fc", "linear", "first", outputs="classes")])
    yield "window", network([node("conv", "max_pool", "input", kernel=2, stride=2, ceil_mode=True), *tail])


def image_seeds():
    files = [path for path in sorted(IMAGES.iterdir()) if path.suffix in (".jpg", ".png") and path.stem != "bomb"]
    yield from ((path.name, path.read_bytes()) for path in files)
    yield "bomb_start.png", (IMAGES / "bomb.png").read_bytes()[:200]
    yield "empty", b""
    yield "cut.jpg", (IMAGES / "rgb.jpg").read_bytes()[:500]


def csv_seeds():
    yield "empty", b""
    yield "columns", b"file,label"
    yield "rows", b"file,label\na.jpg,1\nb.jpg,2\n"
    yield "windows", b"\xef\xbb\xbffile,label\r\na.jpg,1\r\n\r\n"
    yield "quoted", b'a,b\n"x, ""y""","two\nlines"\n'
    yield "open", b'a,b\n1,"2'
    yield "behind", b'a,b\n"1"2,3'
    yield "long", b"a\n" + b"x" * 5000
    yield "wide", b"," * 100
    yield "nul", b"a,b\n1,\0"
    yield "ragged", b"a,b\n1,2,3\n"
    yield "return", b"a,b\n1\r2,3"


def label_seeds():
    for name, text in csv_seeds():
        yield name, b"\0" + text
    yield "bars", b"\0image,labels\na,x|y\nb,\nc,||\n"
    yield "flags", b"\0path,x,y\na,0,1\nb,1,1\n"
    yield "xrays", b"\0Image Index,Finding Labels,Patient ID\na.png,Hernia|Mass,1\n"
    yield "object", b'\1{"a.jpg": 1, "b.jpg": "cat", "c": ["x", 2], "d": []}'
    yield "list", b"\1[1, 2]"
    yield "deep", b"\1" + b"[" * 3000
    yield "nested", b'\1{"a": {"b": [[1]]}}'
    yield "fraction", b'\1{"a": 1.5, "b": 1e400}'


def cifar_seeds():
    record = bytes([3]) + bytes(i * 7 % 256 for i in range(3072))
    yield "empty", b""
    yield "one", record
    yield "two", record * 2
    yield "cut", record[:-1]
    yield "label", b"\x0a" + record[1:]
    yield "hundred", b"\0" + record
    yield "group", b"\x14" + record
    yield "fine", b"\x13\x64" + record[1:]
    yield "last_label", record + b"\xff" + record[1:]
    yield "pickle", b"\x80\x02}q\0" + record
    yield "protocol4", b"\x80\x04\x95" + record
    yield "zeros", bytes(3073)


def tar(files, form=tarfile.USTAR_FORMAT):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for name, content in files:
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def tar_seeds():
    sample = [("a/0.jpg", b"\xff\xd8\xff" + bytes(600)), ("a/0.cls", b"7\n"), ("a/1.png", b"png"), ("a/1.json", b'{"label": 3}')]
    long = [("f" * 90 + "/" + "n" * 60 + ".jpg", b"x"), ("n" * 180 + ".cls", b"1")]
    whole = tar(sample)
    yield "empty", b""
    yield "sample", whole
    yield "cut", whole[:700]
    yield "one_block", whole[:512]
    yield "no_end", whole[:-10240 + 4096]
    yield "sum", whole[:150] + b"7" + whole[151:]
    yield "gnu_long", tar(long, tarfile.GNU_FORMAT)
    yield "pax_long", tar(long, tarfile.PAX_FORMAT)
    yield "pax_names", tar([("\u00e4/0.jpg", b"x"), ("\u00e4/0.cls", b"x")], tarfile.PAX_FORMAT)
    yield "label", tar([("0.cls", b"-1"), ("1.json", b"[1"), ("2.json", b'{"cls": -2}'),
                       ("3.json", b'{"label": 1, "x": 1e999}')])


def idx(kind, sizes, values, magic=b"\0\0"):
    head = magic + bytes([kind, len(sizes)])
    return head + b"".join(size.to_bytes(4, "big") for size in sizes) + values


def idx_seeds():
    yield "empty", b""
    yield "labels", idx(8, [4], bytes(4))
    yield "images", idx(8, [2, 3, 4], bytes(24))
    yield "matrix", idx(8, [2, 3], bytes(6))
    yield "floats", idx(13, [2], bytes(8))
    yield "short", idx(8, [4], bytes(3))
    yield "behind", idx(8, [4], bytes(5))
    yield "none", idx(8, [0], b"")
    yield "huge", idx(8, [2**32 - 1, 2**32 - 1, 2**32 - 1], bytes(8))
    yield "header", idx(8, [4], b"")[:5]
    yield "magic", idx(8, [4], bytes(4), b"\1\0")


def gzip_seeds():
    whole = gzip.compress(bytes(range(256)) * 4, mtime=0)
    yield "empty", b""
    yield "whole", whole
    yield "members", whole + gzip.compress(b"x", mtime=0)
    yield "nothing", gzip.compress(b"", mtime=0)
    yield "cut", whole[:-9]
    yield "no_sum", whole[:-4]
    yield "sum", whole[:-8] + bytes(4) + whole[-4:]
    yield "behind", whole + b"text"
    yield "bomb", gzip.compress(bytes(1 << 21), 9, mtime=0)
    yield "name", b"\x1f\x8b\x08\x08" + bytes(6) + b"name\0" + whole[10:]
    yield "head", whole[:9]


def field(number, value):
    return bytes([number * 8 + 2, len(value)]) + value


def feature(name, value):
    return field(1, field(1, name) + field(2, value))


def example_seeds():
    image, label = feature(b"image/encoded", field(1, field(1, b"jpeg"))), field(3, field(1, b"\7"))
    named = feature(b"image/class/label", label)
    yield "empty", b""
    yield "imagenet", field(1, image + named)
    yield "datasets", field(1, feature(b"image", field(1, field(1, b"png"))) + feature(b"label", label))
    yield "no_label", field(1, image)
    yield "no_image", field(1, named)
    yield "number_image", field(1, feature(b"image", label) + feature(b"label", label))
    yield "text_label", field(1, image + feature(b"image/class/label", field(1, field(1, b"1"))))
    yield "two_labels", field(1, image + feature(b"image/class/label", field(3, field(1, b"\7\10"))))
    yield "twice", field(1, image + image + named)
    yield "cut", field(1, image + named)[:-3]
    yield "length", b"\x0a\xff\xff\xff\xff\x0f"
    yield "deep", b"\x0b" * 200


def main():
    for name, seeds in {"safetensors": safetensors_seeds, "zip": zip_seeds, "pickle": pickle_seeds, "pth": pickle_seeds,
                        "network": network_seeds, "image": image_seeds, "csv": csv_seeds, "labels": label_seeds,
                        "cifar": cifar_seeds, "tar": tar_seeds, "idx": idx_seeds, "gzip": gzip_seeds, "example": example_seeds}.items():
        folder = HERE / "corpus" / name
        folder.mkdir(parents=True, exist_ok=True)
        for seed, content in seeds():
            (folder / seed).write_bytes(content)


main()
