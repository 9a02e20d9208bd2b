"""FLOPs of a network as PyTorch's own counter finds them in the calls of its reference: those of convolutions, linear
layers and attention, a multiply-add is 2. Tensors on the device `meta` have shapes only, so nothing is computed."""
import warnings

import torch
from torch.utils.flop_counter import FlopCounterMode

# Image size and classes of the network as it was published; of all others 224 and 1000.
CIFAR = (32, 10)
OWN = {
    "alexnet_cifar": CIFAR, "frameworks_cnn": CIFAR, "keras_cnn": CIFAR, "resnet9": CIFAR,
    "airbench94": CIFAR, "resnet18_cifar": CIFAR,
    **{f"resnet{depth}{version}": CIFAR for depth in (20, 32, 44, 56, 110) for version in ("", "_v2")},
    **{f"densenet{size}{kind}": CIFAR for size in ("40_k12", "100_k12", "100_k24") for kind in ("", "_paper")},
    "inception_v3": (299, 1000), "inception_v4": (299, 1000), "keras_inception_v3": (299, 1000), "lenet5": (28, 1000),
    "mlp": (52, 1), "nasnet_large": (331, 1000), "overfeat": (231, 1000), "ssd300": (300, 81), "trivial": (227, 1000),
}
IMAGES = 2  # batch-norm needs more than one value per channel


def input_of(name):
    return OWN.get(name, (224, 1000))


def is_grouped(module):
    return any(isinstance(layer, torch.nn.Conv2d) and layer.groups > 1 for layer in module.modules())


def counted(run):
    with FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops() // IMAGES


def count(module, size, classes):
    """Of one image: forward, and forward with backward in training. The counter of PyTorch 2.11 leaves the groups out of
    a convolution's backward: networks that have them get no number for training."""
    module = module.to("meta").train()
    images = torch.empty(IMAGES, 3, size, size, device="meta")

    def train():
        outputs = module(images)
        sum(output.sum() for output in (outputs if isinstance(outputs, tuple) else (outputs,))).backward()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {"imageSize": size, "classes": classes, "forward": counted(lambda: module(images))}
        if not is_grouped(module):
            found["training"] = counted(train)
    return found
