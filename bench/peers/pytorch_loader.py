#!/usr/bin/env python3
"""Loads images as PyTorch trains on them and prints the rate as one line of JSON: torchvision's ImageFolder, random
resized crop at 224 and flip of bytes, batches by a DataLoader. Normalising is left to the device, as Tandem does."""
import sys

import loader_rate

DECODERS = ["pillow", "torchvision", "torchvision-only"]


def parse():
    parser = loader_rate.parser(__doc__)
    parser.add_argument("--decoder", choices=DECODERS, default="pillow",
                        help="torchvision-only decodes in one thread of this process, without crop, flip and batches")
    return parser.parse_args()


def decoded(path):
    from torchvision.io import ImageReadMode, decode_image, read_file
    return decode_image(read_file(path), ImageReadMode.RGB)


def dataset(options):
    import torchvision
    from torchvision.transforms import v2
    v1 = torchvision.transforms
    if options.decoder == "pillow":   # as torchvision's own recipe and examples
        chain = [v1.RandomResizedCrop(224), v1.RandomHorizontalFlip(), v1.PILToTensor()]
        return torchvision.datasets.ImageFolder(options.data, transform=v1.Compose(chain))
    chain = [v2.RandomResizedCrop(224, antialias=True), v2.RandomHorizontalFlip()]
    return torchvision.datasets.ImageFolder(options.data, transform=v2.Compose(chain), loader=decoded)


def batches(options):
    """Endlessly, epoch after epoch."""
    import torch
    torch.set_num_threads(1)
    loader = torch.utils.data.DataLoader(dataset(options), batch_size=options.batch, shuffle=True, drop_last=True,
                                         num_workers=options.workers, persistent_workers=options.workers > 0)
    while True:
        yield from (images for images, _ in loader)


def decoding(options):
    """As many images as a batch has, decoded in this thread and kept nowhere."""
    import torch
    import torchvision
    torch.set_num_threads(1)
    paths = [path for path, _ in torchvision.datasets.ImageFolder(options.data).samples]
    at = 0
    while True:
        for _ in range(options.batch):
            decoded(paths[at % len(paths)])
            at += 7919   # in no order of folders
        yield


def main():
    options = parse()
    loader_rate.measure(decoding(options) if options.decoder == "torchvision-only" else batches(options), options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
