#!/usr/bin/env python3
"""Writes the first seeds of tests/fuzz/corpus: make_seeds.py. Needs the files of tests/golden/weights only.

Inputs that fuzzing found are files beside them, named by their hash.
"""
import json
import pathlib
import zipfile

HERE = pathlib.Path(__file__).parent
GOLDEN = HERE.parent / "golden" / "weights"


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


def main():
    for name, seeds in {"safetensors": safetensors_seeds, "zip": zip_seeds, "pickle": pickle_seeds, "pth": pickle_seeds}.items():
        folder = HERE / "corpus" / name
        folder.mkdir(parents=True, exist_ok=True)
        for seed, content in seeds():
            (folder / seed).write_bytes(content)


main()
