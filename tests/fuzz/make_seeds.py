#!/usr/bin/env python3
"""Writes the first seeds of tests/fuzz/corpus: make_seeds.py. Needs the files of tests/golden only.

Inputs that fuzzing found are files beside them, named by their hash.
"""
import gzip
import io
import json
import math
import pathlib
import pickle
import struct
import tarfile
import zipfile

HERE = pathlib.Path(__file__).parent
GOLDEN = HERE.parent / "golden" / "weights"
IMAGES = HERE.parent / "golden" / "images"
DATASETS = HERE.parent / "golden" / "datasets"


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
    yield "none", b"\0file,label\na,\n"
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


def cifar_pickle_seeds():
    yield from ((path.name, path.read_bytes()) for path in sorted(DATASETS.glob("cifar*")))
    whole = (DATASETS / "cifar10.python2").read_bytes()
    yield "cut", whole[:3000]
    yield "label", whole.replace(b"K\x06K\x09", b"K\x06K\x0a")
    yield "number", whole.replace(b"K\x06K\x09", b"K\x06N")
    yield "shape", whole.replace(b"K\x02M", b"K\x03M")
    yield "fortran", whole.replace(b"tb\x89T", b"tb\x88T")
    yield "type", whole.replace(b"u1", b"i1")
    yield "system", whole.replace(b"cnumpy\nndarray", b"cposix\nsystem")


def lmdb_page(number, flags, nodes, fields=()):
    page = bytearray(256)
    page[:16] = struct.pack("<QHHHH", number, 0, flags, 16 + 2 * len(nodes), 256)
    for index, node in enumerate(nodes):
        upper = int.from_bytes(page[14:16], "little") - len(node) - len(node) % 2
        page[upper:upper + len(node)] = node
        page[14:16] = page[16 + 2 * index:18 + 2 * index] = upper.to_bytes(2, "little")
    for at, content in fields:
        page[at:at + len(content)] = content
    return bytes(page)


def lmdb(pages, root=2, depth=1, entries=1, flags=0, size=256):
    def head(number):
        free, main = struct.pack("<IHH5Q", size, 8, 0, 0, 0, 0, 0, 2**64 - 1), struct.pack(
            "<IHH5Q", 0, flags, depth, 0, 0, 0, entries, root)
        meta = struct.pack("<IIQQ", 0xBEEFC0DE, 1, 0, 1 << 20) + free + main + struct.pack("<QQ", len(pages) + 1, number)
        return lmdb_page(number, 8, [], [(16, meta)])
    return head(0) + head(1) + b"".join(pages)


def lmdb_node(key, data, flags=0, size=None):
    return struct.pack("<IHH", len(data) if size is None else size, flags, len(key)) + key + data


def lmdb_branch(number, children):
    return lmdb_page(number, 1, [struct.pack("<IHH", child, 0, len(key)) + key for key, child in children])


def lmdb_seeds():
    leaf = lmdb_page(2, 2, [lmdb_node(b"a", b"1"), lmdb_node(b"b", b"value")])
    own = lmdb_page(2, 2, [lmdb_node(b"a", (3).to_bytes(8, "little"), 1, 300)])
    value = lmdb_page(3, 4, [], [(12, (2).to_bytes(4, "little"))]) + bytes(256)
    leaves = [lmdb_page(3 + i, 2, [lmdb_node(bytes([97 + i]), b"x" * i)]) for i in range(3)]
    yield "empty", b""
    yield "none", lmdb([], root=2**64 - 1, depth=0, entries=0)
    yield "leaf", lmdb([leaf], entries=2)
    yield "branch", lmdb([lmdb_branch(2, [(b"", 3), (b"b", 4), (b"c", 5)])] + leaves, depth=2, entries=3)
    yield "cycle", lmdb([lmdb_branch(2, [(b"", 2)])], depth=5)
    yield "again", lmdb([lmdb_branch(2, [(b"", 3), (b"b", 3)])] + leaves, depth=2, entries=2)
    yield "own_pages", lmdb([own, value])
    yield "value_cut", lmdb([own, value])[:-256]
    yield "value_kind", lmdb([own, lmdb_page(3, 2, []) + bytes(256)])
    yield "database", lmdb([lmdb_page(2, 2, [lmdb_node(b"a", bytes(48), 2)])])
    yield "flags", lmdb([leaf], entries=2, flags=4)
    yield "count", lmdb([leaf], entries=3)
    yield "order", lmdb([lmdb_page(2, 2, [lmdb_node(b"b", b""), lmdb_node(b"a", b"")])], entries=2)
    yield "bounds", lmdb([lmdb_page(2, 2, [lmdb_node(b"a", b"1")], [(12, b"\xfe\xff")])])
    yield "pointer", lmdb([lmdb_page(2, 2, [lmdb_node(b"a", b"1")], [(16, b"\xff\x00")])])
    yield "page_size", lmdb([leaf], entries=2, size=100)
    yield "real", gzip.decompress((DATASETS / "datapoints.lmdb.gz").read_bytes())
    yield "named", gzip.decompress((DATASETS / "named.lmdb.gz").read_bytes())


def datapoint_seeds():
    array = pickle.dumps([bytearray(b"\xff\xd8"), 3], protocol=5)
    numpy = b"\x85\xc4\2nd\xc3\xc4\4type\xa3|u1\xc4\4kind\xc4\0\xc4\5shape\x91\4\xc4\4data\xc4\4\xff\xd8\2\3"
    scalar = b"\x83\xc4\2nd\xc2\xc4\4type\xa3<i4\xc4\4data\xc4\4\5\0\0\0"
    real = gzip.decompress((DATASETS / "datapoints.lmdb.gz").read_bytes())
    for name, start, end in (("numpy", b"]\x94(\x8c\x13numpy", b"K\3e."), ("numpy2", b"]q\0(cnumpy", b"K\4e."),
                             ("number", b"]\x94(B", b"R\x94e.")):
        at = real.index(start)
        yield name, real[real.rindex(b"\x80", 0, at):real.index(end, at) + len(end)]
    yield "empty", b""
    yield "bytearray", array
    yield "bytes", pickle.dumps([b"\xff\xd8", 3], protocol=4)
    yield "latin1", pickle.dumps((b"\xff\xd8", 3), protocol=2)
    yield "cut", array[:-4]
    yield "msgpack", b"\x92" + numpy + b"\3"
    yield "msgpack_number", b"\x92\xc4\2\xff\xd8" + scalar
    yield "msgpack_array", b"\x92" + numpy + numpy
    yield "msgpack_cut", b"\x92" + numpy[:30]
    yield "msgpack_huge", b"\x92\xc6\xff\xff\xff\xffx"
    yield "msgpack_deep", b"\x92\x81\xa1x" + b"\x91" * 200
    yield "msgpack_kinds", b"\x9d\xc0\xc2\xca1234\xcb12345678\xd4\1x\xc7\1\1x\xd9\1x\xdc\0\1\1\xde\0\1\1\1\xcf" + bytes(8)


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


def array(dtype, shape, data, size=None):
    return (dtype.to_bytes(4, "little") + len(shape).to_bytes(4, "little")
            + b"".join(side.to_bytes(4, "little", signed=True) for side in shape)
            + (len(data) if size is None else size).to_bytes(8, "little", signed=True) + data)


def array_seeds():
    images, labels = array(4, [2, 2, 2, 3], bytes(24)), array(9, [2], bytes(16))
    yield "empty", b""
    yield "batch", b"\2\0\0\0" + images + labels
    yield "floats", b"\1\0\0\0" + array(1, [2, 3], bytes(24))
    yield "number", b"\1\0\0\0" + array(3, [], bytes(4))
    yield "none", bytes(4)
    yield "many", b"\xff\xff\xff\x7f"
    yield "negative", b"\xff\xff\xff\xff"
    yield "type", b"\1\0\0\0" + array(7, [1], b"x")
    yield "complex", b"\1\0\0\0" + array(8, [1], bytes(8))
    yield "dimensions", b"\1\0\0\0" + array(4, [1] * 9, b"x")
    yield "zero_side", b"\1\0\0\0" + array(4, [2, 0], b"")
    yield "below_zero", b"\1\0\0\0" + array(4, [-1], b"x")
    yield "overflow", b"\1\0\0\0" + array(2, [2**31 - 1] * 8, b"")
    yield "size", b"\1\0\0\0" + array(4, [2], b"xy", 3)
    yield "size_below_zero", b"\1\0\0\0" + array(4, [2], b"xy", -2)
    yield "cut", b"\2\0\0\0" + images + labels[:-1]
    yield "shape_cut", (b"\1\0\0\0" + array(4, [1, 1, 1], b"x"))[:16]
    yield "behind", b"\1\0\0\0" + images + b"x"
    yield "pickle", b"\x80\x02]q\x00."


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


def long_field(number, value):
    return varint(number * 8 + 2) + varint(len(value)) + value


def varint(value):
    value %= 1 << 64
    return bytes([value]) if value < 128 else bytes([value % 128 + 128]) + varint(value // 128)


def whole(number, value):
    return varint(number * 8) + varint(value)


def onnx_tensor(name, shape, first=0.0):
    count = math.prod(shape)
    values = struct.pack(f"<{count}f", *(first + i / 8 for i in range(count)))
    return b"".join(whole(1, size) for size in shape) + whole(2, 1) + long_field(8, name) + long_field(9, values)


def onnx_wholes(name, *values, scalar=False):
    packed = b"".join(varint(value) for value in values)
    return (b"" if scalar else whole(1, len(values))) + whole(2, 7) + long_field(7, packed) + long_field(8, name)


def onnx_number(name, value):
    return whole(2, 1) + long_field(8, name) + long_field(9, struct.pack("<f", value))


def onnx_node(op, inputs, *outputs, **attributes):
    out = b"".join(long_field(1, i) for i in inputs) + b"".join(long_field(2, o) for o in outputs)
    for name, value in attributes.items():
        many = value if isinstance(value, list) else None
        text = whole(3, value) if many is None else b"".join(whole(8, item) for item in many)
        out += long_field(5, long_field(1, name.encode()) + text + whole(20, 7 if many else 2))
    return out + long_field(3, outputs[0]) + long_field(4, op)


def onnx(nodes, tensors, shape=(1, 3, 8, 8), opset=18, output=b"y"):
    def value(name, sizes):
        dims = b"".join(long_field(1, whole(1, size) if size else long_field(2, b"n")) for size in sizes)
        return long_field(1, name) + long_field(2, long_field(1, whole(1, 1) + long_field(2, dims)))

    graph = b"".join(long_field(1, node) for node in nodes) + b"".join(long_field(5, tensor) for tensor in tensors)
    graph += long_field(11, value(b"x", shape)) + long_field(12, value(output, ()))
    return whole(1, 8) + long_field(8, long_field(1, b"") + whole(2, opset)) + long_field(7, graph)


def onnx_seeds():
    norm = [onnx_tensor(b"bn." + part, [4], 1) for part in (b"weight", b"bias", b"running_mean", b"running_var")]
    fc, conv = onnx_tensor(b"fc.weight", [5, 4]), onnx_tensor(b"conv.weight", [4, 3, 3, 3])
    pooled = [onnx_node(b"GlobalAveragePool", [b"r"], b"p"), onnx_node(b"Flatten", [b"p"], b"f"),
              onnx_node(b"Gemm", [b"f", b"fc.weight"], b"y", transB=1)]
    start = [onnx_node(b"Conv", [b"x", b"conv.weight"], b"c", pads=[1, 1, 1, 1])]
    whole_network = onnx([*start, onnx_node(b"BatchNormalization", [b"c", b"bn.weight", b"bn.bias", b"bn.running_mean",
                                                                   b"bn.running_var"], b"b"),
                          onnx_node(b"Relu", [b"b"], b"r"), *pooled], [conv, *norm, fc])
    yield "empty", b""
    yield "convolution", whole_network
    yield "cut", whole_network[:-40]
    yield "shuffle", onnx([*start, onnx_node(b"Reshape", [b"c", b"s"], b"d"),
                           onnx_node(b"Transpose", [b"d"], b"e", perm=[0, 2, 1, 3, 4]),
                           onnx_node(b"Reshape", [b"e", b"t"], b"g"), onnx_node(b"Split", [b"g"], b"h", b"i", axis=1),
                           onnx_node(b"Concat", [b"i", b"h"], b"r", axis=1), *pooled],
                          [conv, fc, onnx_wholes(b"s", 1, 2, 2, 8, 8), onnx_wholes(b"t", 1, -1, 8, 8)])
    yield "sequence", onnx([*start, onnx_node(b"SplitToSequence", [b"c", b"sizes"], b"q", axis=1),
                            onnx_node(b"SequenceAt", [b"q", b"first"], b"h"),
                            onnx_node(b"SequenceAt", [b"q", b"last"], b"i"),
                            onnx_node(b"Concat", [b"i", b"h"], b"r", axis=1), *pooled],
                           [conv, fc, onnx_wholes(b"sizes", 1, 3), onnx_wholes(b"first", 0, scalar=True),
                            onnx_wholes(b"last", -1, scalar=True)])
    yield "gate", onnx([*start, onnx_node(b"Sigmoid", [b"c"], b"s"), onnx_node(b"Mul", [b"c", b"s"], b"m"),
                        onnx_node(b"GlobalAveragePool", [b"m"], b"g"), onnx_node(b"Mul", [b"g", b"m"], b"r"), *pooled],
                       [conv, fc])
    yield "gelu", onnx([*start, onnx_node(b"Div", [b"c", b"two"], b"d"), onnx_node(b"Erf", [b"d"], b"e"),
                        onnx_node(b"Add", [b"e", b"one"], b"a"), onnx_node(b"Mul", [b"c", b"a"], b"m"),
                        onnx_node(b"Mul", [b"m", b"half"], b"r"), *pooled],
                       [conv, fc, onnx_number(b"two", 2 ** 0.5), onnx_number(b"one", 1), onnx_number(b"half", 0.5)])
    yield "norm", onnx([*start, onnx_node(b"Transpose", [b"c"], b"h", perm=[0, 2, 3, 1]),
                        onnx_node(b"ReduceMean", [b"h"], b"m", axes=[-1]), onnx_node(b"Sub", [b"h", b"m"], b"d"),
                        onnx_node(b"Pow", [b"d", b"two"], b"q"), onnx_node(b"ReduceMean", [b"q"], b"v", axes=[-1]),
                        onnx_node(b"Add", [b"v", b"epsilon"], b"e"), onnx_node(b"Sqrt", [b"e"], b"s"),
                        onnx_node(b"Div", [b"d", b"s"], b"n"), onnx_node(b"Mul", [b"n", b"scale"], b"o"),
                        onnx_node(b"Add", [b"o", b"shift"], b"z"), onnx_node(b"Transpose", [b"z"], b"r", perm=[0, 3, 1, 2]),
                        *pooled],
                       [conv, fc, onnx_number(b"two", 2), onnx_number(b"epsilon", 1e-6), onnx_tensor(b"scale", [4], 1),
                        onnx_tensor(b"shift", [4])], opset=13)
    yield "tokens", onnx([*start, onnx_node(b"Reshape", [b"c", b"s"], b"t"), onnx_node(b"Transpose", [b"t"], b"u", perm=[0, 2, 1]),
                          onnx_node(b"Concat", [b"class", b"u"], b"v", axis=1), onnx_node(b"Add", [b"v", b"place"], b"w"),
                          onnx_node(b"MatMul", [b"w", b"qkv"], b"q"), onnx_node(b"Reshape", [b"q", b"h"], b"k"),
                          onnx_node(b"Transpose", [b"k"], b"l", perm=[2, 0, 3, 1, 4]),
                          *(onnx_node(b"Gather", [b"l", b"i%d" % i], b"n%d" % i, axis=0) for i in range(3)),
                          onnx_node(b"Transpose", [b"n1"], b"kt", perm=[0, 1, 3, 2]),
                          onnx_node(b"MatMul", [b"n0", b"kt"], b"a0"), onnx_node(b"Div", [b"a0", b"root"], b"a1"),
                          onnx_node(b"Softmax", [b"a1"], b"a2"), onnx_node(b"MatMul", [b"a2", b"n2"], b"o"),
                          onnx_node(b"Transpose", [b"o"], b"o1", perm=[0, 2, 1, 3]), onnx_node(b"Reshape", [b"o1", b"back"], b"o2"),
                          onnx_node(b"Add", [b"o2", b"w"], b"o3"), onnx_node(b"Gather", [b"o3", b"i0"], b"f", axis=1),
                          onnx_node(b"Gemm", [b"f", b"fc.weight"], b"y", transB=1)],
                         [conv, fc, onnx_wholes(b"s", 1, 4, 64), onnx_tensor(b"class", [1, 1, 4]), onnx_tensor(b"place", [1, 65, 4]),
                          onnx_tensor(b"qkv", [4, 12]), onnx_wholes(b"h", 1, 65, 3, 2, 2), onnx_wholes(b"back", 1, 65, 4),
                          *(onnx_wholes(b"i%d" % i, i, scalar=True) for i in range(3)), onnx_number(b"root", 2 ** 0.5)])
    yield "shapes", onnx([*start, onnx_node(b"Shape", [b"c"], b"s"), onnx_node(b"Gather", [b"s", b"zero"], b"n"),
                          onnx_node(b"Unsqueeze", [b"n", b"axes"], b"u"), onnx_node(b"Concat", [b"u", b"rest"], b"t", axis=0),
                          onnx_node(b"Reshape", [b"c", b"t"], b"f"), onnx_node(b"Gemm", [b"f", b"w"], b"y", transB=1)],
                         [conv, onnx_tensor(b"w", [5, 256]), onnx_wholes(b"zero", 0, scalar=True), onnx_wholes(b"axes", 0),
                          onnx_wholes(b"rest", -1)], shape=(0, 3, 8, 8))
    yield "slices", onnx([onnx_node(b"Pad", [b"x", b"pads"], b"p0"), onnx_node(b"Slice", [b"p0", b"a", b"b", b"axes", b"two"], b"p1"),
                          onnx_node(b"Conv", [b"p1", b"conv.weight"], b"r"), *pooled],
                         [conv, fc, onnx_wholes(b"pads", 0, 0, 1, 1, 0, 0, 1, 1), onnx_wholes(b"a", 1, 1),
                          onnx_wholes(b"b", 2 ** 63 - 1, -1), onnx_wholes(b"axes", 2, 3), onnx_wholes(b"two", 2, 1)])
    yield "huge", onnx([onnx_node(b"ConstantOfShape", [b"s"], b"z"), onnx_node(b"Reshape", [b"z", b"s"], b"y")],
                       [onnx_wholes(b"s", 2 ** 20, 2 ** 20)])
    yield "expand", onnx([onnx_node(b"Expand", [b"c", b"s"], b"z"), onnx_node(b"Conv", [b"x", b"z"], b"y")],
                         [onnx_wholes(b"s", 2 ** 10, 2 ** 10, 2 ** 10), onnx_number(b"c", 0)])
    yield "range", onnx([onnx_node(b"Range", [b"a", b"b", b"c"], b"y")],
                        [onnx_number(b"a", 0), onnx_number(b"b", float("nan")), onnx_number(b"c", 1e-30)])
    yield "length", b"\x3a\xff\xff\xff\xff\x0f"
    yield "external", onnx([], [whole(2, 1) + long_field(8, b"w") + long_field(13, b"") + whole(14, 1)])


def crc32c(data):
    sum = 0xFFFFFFFF
    for byte in data:
        sum ^= byte
        for _ in range(8):
            sum = sum >> 1 ^ (0x82F63B78 if sum & 1 else 0)
    return sum ^ 0xFFFFFFFF


def packed_index(*samples):
    entries = b"".join(struct.pack("<QII", offset, length, 0) for offset, length in samples)
    return entries + b"".join(struct.pack("<Q", label) for label in range(len(samples)))


def packed(samples, index, description):
    magic = b"tandem-packed 1\n"
    at = len(magic) + len(samples)
    end = struct.pack("<QQII", at, at + len(index), crc32c(index), crc32c(description))
    return magic + samples + index + description + end + struct.pack("<I", crc32c(end)) + magic


def packed_seeds():
    def described(**more):
        return json.dumps({"labels": "class", "label_bytes": 8, "classes": 2, "size": [0, 0, 0], "samples": 2, **more}).encode()
    two = packed_index((16, 3), (19, 5))
    pixels = described(size=[1, 1, 3], sums=[1, 2, 3], squares=[1, 4, 9])
    whole = packed(b"x" * 64, two, described(class_names=["cat", "dog"]))
    yield "empty", b""
    yield "files", whole
    yield "pixels", packed(b"x" * 64, packed_index((16, 3), (19, 3)), pixels)
    yield "cut", whole[:-1]
    yield "version", whole.replace(b"packed 1", b"packed 2")
    yield "none", packed(b"", b"", described(samples=0))
    yield "parts", described() + b"\n" + two
    yield "parts_pixels", pixels + b"\n" + packed_index((16, 3), (19, 3))
    yield "count", described(samples=2**40) + b"\n" + two
    yield "outside", described() + b"\n" + packed_index((16, 3), (2**64 - 1, 5))
    yield "label_bytes", described(label_bytes=1 << 20) + b"\n" + two
    yield "names", described(class_names=["a"]) + b"\n" + two
    yield "no_sums", described(size=[1, 1, 3]) + b"\n" + two
    yield "sums", described(size=[1, 1, 3], sums=[2**64 - 1, -1, 1.5], squares=[]) + b"\n" + packed_index((16, 3), (19, 3))
    yield "large_sums", described(size=[1, 1, 3], sums=[2**64 - 1e4, 0, 0], squares=[0, 0, 0]) + b"\n" + packed_index((16, 3), (19, 3))
    yield "deep", b"[" * 100 + b"\n"


def manifest_seeds():
    shard = {"images": 3, "skipped": 1, "bytes": 100, "sha256": "00"}
    def manifest(splits, **more):
        return json.dumps({"format": "tandem-data", "version": 2, "complete": False, "options": {"to": "packed"},
                           "splits": splits, **more}).encode()
    yield "empty", b""
    yield "none", manifest([])
    yield "train", manifest([{"name": "train", "images": 3, "shards": [shard, None]}, {"name": "val", "shards": []}])
    yield "version", manifest([], version=1)
    yield "format", manifest([], format="x")
    yield "options", manifest([], options={"to": 1})
    yield "option_list", manifest([], options=["a"])
    yield "splits", manifest(3)
    yield "shards", manifest([{"name": "train", "shards": [[]]}])
    yield "negative", manifest([{"name": "train", "shards": [{**shard, "images": -1}]}])
    yield "huge", manifest([{"name": "train", "shards": [{**shard, "bytes": 2**64 - 1}]}])
    yield "deep", b"[" * 100


def main():
    for name, seeds in {"arrays": array_seeds, "safetensors": safetensors_seeds, "zip": zip_seeds, "pickle": pickle_seeds, "pth": pickle_seeds,
                        "network": network_seeds, "onnx": onnx_seeds, "image": image_seeds, "csv": csv_seeds, "labels": label_seeds,
                        "cifar": cifar_seeds, "cifar_pickle": cifar_pickle_seeds,
                        "lmdb": lmdb_seeds, "datapoint": datapoint_seeds, "tar": tar_seeds, "idx": idx_seeds, "gzip": gzip_seeds, "example": example_seeds,
                        "packed": packed_seeds, "manifest": manifest_seeds}.items():
        folder = HERE / "corpus" / name
        folder.mkdir(parents=True, exist_ok=True)
        for seed, content in seeds():
            (folder / seed).write_bytes(content)


main()
