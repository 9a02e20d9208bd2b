#!/usr/bin/env python3
"""Writes datasets/: pickles of CIFAR by Python 2 and 3, and files of LMDB by the library itself. Run thrice, by hand.

Python 2.7 with NumPy 1.16: the pickles as the real ones are. Python 3 with NumPy 1.26: the same, written again.
Python 3 with NumPy 2, Pillow, lmdb, msgpack and msgpack-numpy: the same, and LMDB. For tests/formats/dataset/
cifar_pickle_test.cpp, tests/formats/archive/lmdb_test.cpp and tests/data/dataset/lmdb_dataset_test.cpp.
"""
import gzip
import os
import pickle
import random
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "datasets")


def pixels(images):
    """[images, 3072]; the same in cifar_pickle_test.cpp."""
    return (np.arange(images)[:, None] * 31 + np.arange(3072)[None, :] * 7).astype(np.uint8)


def python2():
    import cPickle
    names = ["camion_s_000148.png", "bufo_s_002088.png"]
    ten = {"batch_label": "training batch 1 of 5", "labels": [6, 9], "data": pixels(2), "filenames": names}
    hundred = {"batch_label": "training batch 1 of 1", "fine_labels": [99, 0], "coarse_labels": [19, 0],
               "data": pixels(2), "filenames": names}
    for name, batch in (("cifar10", ten), ("cifar100", hundred)):
        with open(os.path.join(FOLDER, name + ".python2"), "wb") as file:
            cPickle.dump(batch, file, 2)


def python3():
    """Someone reads a batch and writes it again; the two ways are those of the answers that people find."""
    version = np.__version__.split(".")[0]
    for protocol in (2, 3, 4, 5):
        with open(os.path.join(FOLDER, "cifar10.python2"), "rb") as file:
            batch = pickle.load(file, encoding="bytes" if protocol % 2 == 0 else "latin1")
        with open(os.path.join(FOLDER, "cifar10.numpy%s.protocol%d" % (version, protocol)), "wb") as file:
            pickle.dump(batch, file, protocol=protocol)


def lmdb_file(name, fill, **options):
    import lmdb
    path = os.path.join(tempfile.mkdtemp(), "made.lmdb")
    environment = lmdb.open(path, subdir=False, map_size=1 << 30, meminit=True, max_dbs=4, **options)
    fill(environment)
    environment.close()
    with open(path, "rb") as made, open(os.path.join(FOLDER, name + ".lmdb.gz"), "wb") as packed:
        packed.write(gzip.compress(made.read(), 9, mtime=0))


def big_png():
    import io
    from PIL import Image
    out = io.BytesIO()
    y, x, c = np.mgrid[0:40, 0:60, 0:3]
    Image.fromarray((7 * y + 13 * x + 50 * c).astype(np.uint8)).save(out, "PNG", compress_level=0)
    return out.getvalue()


def datapoints(environment):
    """As LMDBSerializer.save() does it; each of tensorpack's serialisers."""
    import msgpack
    import msgpack_numpy
    jpeg = open(os.path.join(HERE, "images", "rgb.jpg"), "rb").read()
    def array(content):
        return np.asarray(bytearray(content), dtype="uint8")
    def packed(point):
        return msgpack.packb(point, use_bin_type=True, default=msgpack_numpy.encode)
    values = [pickle.dumps([array(jpeg), 3], protocol=-1), pickle.dumps([jpeg, np.int64(1)], protocol=4),
              packed([array(jpeg), 2]), packed([jpeg, np.int32(5)]), pickle.dumps([array(big_png()), 0], protocol=-1),
              pickle.dumps([array(jpeg), 4], protocol=2)]
    keys = ["{:08}".format(index).encode("ascii") for index in range(len(values))]
    with environment.begin(write=True) as transaction:
        for key, value in zip(keys, values):
            transaction.put(key, value)
    with environment.begin(write=True) as transaction:
        transaction.put(b"__keys__", pickle.dumps(keys, protocol=-1))


def tree(environment):
    """Long keys, so that few entries need three levels; freed pages are used again. See lmdb_test.cpp."""
    def key(number):
        return b"%04d" % number + b"k" * 400
    numbers = list(range(160))
    random.Random(1).shuffle(numbers)
    for start in range(0, len(numbers), 20):
        with environment.begin(write=True) as transaction:
            for number in numbers[start:start + 20]:
                transaction.put(key(number), b"old" * (number * 13))
    with environment.begin(write=True) as transaction:
        for number in range(0, 160, 4):
            transaction.delete(key(number))
    with environment.begin(write=True) as transaction:
        for number in range(160):
            if number % 4:
                transaction.put(key(number), bytes([number]) * (5000 + number if number % 10 == 1 else number))


def named(environment):
    with environment.begin(write=True, db=environment.open_db(b"inner")) as transaction:
        transaction.put(b"a", b"1")


def empty(environment):
    with environment.begin(write=True) as transaction:
        transaction.put(b"a", b"1")
    with environment.begin(write=True) as transaction:
        transaction.delete(b"a")


def main():
    if not os.path.isdir(FOLDER):
        os.makedirs(FOLDER)
    if sys.version_info[0] == 2:
        return python2()
    python3()
    if np.__version__.startswith("1."):
        return None
    for fill in (datapoints, tree, named, empty):
        lmdb_file(fill.__name__, fill)
    return None


main()
