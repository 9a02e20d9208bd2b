#!/usr/bin/env python3
"""Writes the first seeds of tests/fuzz/corpus: make_seeds.py. Needs the files of tests/golden only.

Inputs that fuzzing found are files beside them, named by their hash.
"""
import json
import pathlib
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


def main():
    for name, seeds in {"safetensors": safetensors_seeds, "zip": zip_seeds, "pickle": pickle_seeds, "pth": pickle_seeds,
                        "network": network_seeds, "image": image_seeds}.items():
        folder = HERE / "corpus" / name
        folder.mkdir(parents=True, exist_ok=True)
        for seed, content in seeds():
            (folder / seed).write_bytes(content)


main()
