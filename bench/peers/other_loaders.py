#!/usr/bin/env python3
"""Loads images by a loader that others train with, and prints the rate as one line of JSON. Each does what
pytorch_loader.py does: a whole decoded image, random resized crop at 224 and flip of bytes, shuffled batches. Settings
are those that the documentation of each recommends for speed on CPUs."""
import math
import multiprocessing
import os
import pathlib
import random
import sys

import environment
import loader_rate
from loader_rate import SIDE


def files(options):
    """(path, class) of each image."""
    folders = sorted(folder for folder in pathlib.Path(options.data).iterdir() if folder.is_dir())
    return [(str(path), number) for number, folder in enumerate(folders) for path in sorted(folder.iterdir())]


def endless(items):
    """Epoch after epoch, each in its own order."""
    while True:
        yield from random.sample(items, len(items))


def crop_of(width, height):
    """(width, height, left, top) by the rule of torchvision's RandomResizedCrop."""
    for _ in range(10):
        area, ratio = width * height * random.uniform(0.08, 1), math.exp(random.uniform(-1, 1) * math.log(4 / 3))
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            return w, h, random.randint(0, width - w), random.randint(0, height - h)
    side = min(width, height)
    return side, side, (width - side) // 2, (height - side) // 2


def torchvision_image():
    """A function from the bytes of a file to a changed image; one thread, as each worker has its own."""
    import torch
    from torchvision.io import ImageReadMode, decode_image
    from torchvision.transforms import v2
    torch.set_num_threads(1)
    change = v2.Compose([v2.RandomResizedCrop(SIDE, antialias=True), v2.RandomHorizontalFlip()])
    return lambda file: change(decode_image(torch.frombuffer(bytearray(file), dtype=torch.uint8), ImageReadMode.RGB))


def spdl_pipeline(options, image_of, batch_of):
    """Threads of one process: each makes images, one joins batches."""
    from spdl.pipeline import PipelineBuilder
    paths = [path for path, _ in files(options)]
    pipeline = (PipelineBuilder().add_source(endless(paths)).pipe(image_of, concurrency=options.workers)
                .aggregate(options.batch, drop_last=True).pipe(batch_of).add_sink(4)
                .build(num_threads=options.workers + 1))
    with pipeline.auto_stop():
        yield from pipeline


def spdl(options):
    """Its own decoder, FFmpeg's, and FFmpeg's filters; frames become a batch at once. Colours are repeated, not
    interpolated: pixels differ from those of the others, which all are Pillow's."""
    import spdl.io

    def image_of(path):
        packets = spdl.io.demux_image(path)
        w, h, left, top = crop_of(packets.codec.width, packets.codec.height)
        flip = "hflip," if random.random() < 0.5 else ""
        chain = f"crop={w}:{h}:{left}:{top}:exact=1,scale={SIDE}:{SIDE}:flags=bilinear,{flip}format=pix_fmts=rgb24"
        return spdl.io.decode_packets(packets, filter_desc=chain)

    return spdl_pipeline(options, image_of, lambda frames: spdl.io.to_numpy(spdl.io.convert_frames(frames)))


def spdl_torchvision(options):
    """SPDL's threads around torchvision's functions, which leave Python's lock."""
    import torch
    changed = torchvision_image()
    return spdl_pipeline(options, lambda path: changed(pathlib.Path(path).read_bytes()), torch.stack)


def dali_pipeline(options, image_of):
    """Operators for CPUs alone: no device."""
    from nvidia.dali import fn, pipeline_def

    @pipeline_def(batch_size=options.batch, num_threads=options.workers, device_id=None, prefetch_queue_depth=3, seed=1)
    def images():
        encoded, _ = fn.readers.file(file_root=options.data, random_shuffle=True, initial_fill=1000, name="reader")
        return fn.flip(image_of(fn, encoded), horizontal=fn.random.coin_flip())

    pipeline = images()
    pipeline.build()
    while True:
        yield pipeline.run()[0].as_array()


def dali(options):
    """All of an image is decoded, to Pillow's pixels."""
    def image_of(fn, encoded):
        return fn.random_resized_crop(fn.decoders.image(encoded, jpeg_fancy_upsampling=True), size=SIDE)
    return dali_pipeline(options, image_of)


def dali_crop(options):
    """Only the crop is decoded, as far as the format allows."""
    def image_of(fn, encoded):
        area, ratio = [0.08, 1.0], [3 / 4, 4 / 3]
        return fn.resize(fn.decoders.image_random_crop(encoded, jpeg_fancy_upsampling=True, random_area=area,
                                                       random_aspect_ratio=ratio), size=[SIDE, SIDE])
    return dali_pipeline(options, image_of)


def webdataset(options):
    """Its own archives (--archives); processes decode by torchvision, and join the batches too."""
    import webdataset as wds
    changed = torchvision_image()
    archives = sorted(str(path) for path in pathlib.Path(options.archives).glob("*.tar"))
    samples = (wds.WebDataset(archives, resampled=True, shardshuffle=False).shuffle(1000).to_tuple("jpg", "cls")
               .map_tuple(changed, int).batched(options.batch, partial=False))
    loader = wds.WebLoader(samples, batch_size=None, num_workers=options.workers)
    yield from (images for images, _ in loader)


def tensorpack(options):
    """Its DataFlow: processes that decode by OpenCV and join batches, sent over ZeroMQ's pipes."""
    import cv2
    from tensorpack.dataflow import BatchData, DataFromList, MapData, MultiProcessRunnerZMQ, imgaug
    cv2.setNumThreads(1)
    crop = imgaug.GoogleNetRandomCropAndResize(interp=cv2.INTER_LINEAR)
    changes = imgaug.AugmentorList([crop, imgaug.Flip(horiz=True)])

    def image_of(point):
        path, label = point
        return [changes.augment(cv2.cvtColor(cv2.imread(path, cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)), label]

    flow = MapData(DataFromList([list(file) for file in files(options)], shuffle=True), image_of)
    flow = MultiProcessRunnerZMQ(BatchData(flow, options.batch), num_proc=options.workers)
    flow.reset_state()
    while True:
        yield from (images for images, _ in flow)


def write_beton(options):
    """FFCV has no way to keep a file's bytes: images are encoded again, as JPEGs of the quality that they have."""
    import torchvision
    from ffcv.fields import IntField, RGBImageField
    from ffcv.writer import DatasetWriter
    fields = {"image": RGBImageField(write_mode="jpg", jpeg_quality=90), "label": IntField()}
    part = f"{options.beton}.part"
    DatasetWriter(part, fields, num_workers=1).from_indexed_dataset(torchvision.datasets.ImageFolder(options.data))
    os.replace(part, options.beton)


def ffcv(options):
    """Its own file (--beton), made if it is not there; threads decode, and crop and scale with compiled functions."""
    import numpy
    if not os.path.exists(options.beton):
        write_beton(options)
    from ffcv.fields.decoders import IntDecoder, RandomResizedCropRGBImageDecoder
    from ffcv.loader import Loader, OrderOption
    from ffcv.transforms import RandomHorizontalFlip
    loader = Loader(options.beton, batch_size=options.batch, num_workers=options.workers, order=OrderOption.RANDOM,
                    os_cache=True, drop_last=True, pipelines={
                        "image": [RandomResizedCropRGBImageDecoder((SIDE, SIDE)), RandomHorizontalFlip()],
                        "label": [IntDecoder()]})
    while True:
        yield from (numpy.asarray(images) for images, _ in loader)


LOADERS = {loader.__name__.replace("_", "-"): loader
           for loader in (spdl, spdl_torchvision, dali, dali_crop, webdataset, tensorpack, ffcv)}


def main():
    parser = loader_rate.parser(__doc__)
    parser.add_argument("--loader", choices=LOADERS, required=True)
    parser.add_argument("--archives", help="folder of WebDataset's archives of the same images")
    parser.add_argument("--beton", help="FFCV's file of the same images, which is made if it is not there")
    options = parser.parse_args()
    sys.path.append(environment.packages_of("peers"))   # PyTorch and torchvision, of which there is one copy
    batches = LOADERS[options.loader](options)
    loader_rate.measure(batches, options)
    for child in multiprocessing.active_children():
        child.kill()
    os._exit(0)   # while the loader lives: what some do at their end takes long, or is printed behind the rate


if __name__ == "__main__":
    main()
