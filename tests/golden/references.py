"""Plain references of the models that torchvision does not have, written from their definitions."""
import torch
from torch import nn
from torch.nn import functional as F
from torchvision.models.regnet import BlockParams, RegNet


def conv_norm(inputs, outputs, kernel, stride, padding):
    conv = nn.Conv2d(inputs, outputs, kernel, stride, padding, bias=False)
    return conv, nn.BatchNorm2d(outputs, eps=1e-5, momentum=0.1)


class PaperBottleneck(nn.Module):
    """He et al. 2015, figure 5: 1x1 with the stride, 3x3, 1x1; projection where the shape changes."""

    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1, self.bn1 = conv_norm(inputs, width, 1, stride, 0)
        self.conv2, self.bn2 = conv_norm(width, width, 3, 1, 1)
        self.conv3, self.bn3 = conv_norm(width, 4 * width, 1, 1, 0)
        if inputs != 4 * width or stride != 1:
            self.downsample = nn.Sequential(*conv_norm(inputs, 4 * width, 1, stride, 0))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = F.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        return F.relu(y + (self.downsample(x) if hasattr(self, "downsample") else x))


class PaperResnet50(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv1, self.bn1 = conv_norm(3, 64, 7, 2, 3)
        channels = 64
        for stage, (blocks, width) in enumerate([(3, 64), (4, 128), (6, 256), (3, 512)]):
            layers = []
            for block in range(blocks):
                layers.append(PaperBottleneck(channels, width, 2 if stage > 0 and block == 0 else 1))
                channels = 4 * width
            setattr(self, f"layer{stage + 1}", nn.Sequential(*layers))
        self.fc = nn.Linear(channels, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean((2, 3)))


def same_padded(x, kernel, stride):
    """Pads height and width as TensorFlow's SAME does: the output has ceil(size / stride), the odd pixel comes last."""
    edges = []
    for size in (x.shape[3], x.shape[2]):
        total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
        edges += [total // 2, total - total // 2]
    return F.pad(x, edges)


def shrunk(x, stride, extra):
    """The shortcut of plan A: every stride-th pixel, zero channels on both sides."""
    if not extra:
        return x
    x = F.avg_pool2d(x, 1, stride)
    zeros = x.new_zeros(x.shape[0], extra // 2, *x.shape[2:])
    return torch.cat([zeros, x, zeros], 1)


class CifarBlock(nn.Module):
    """residual_block of tf_cnn_benchmarks, version v1."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.stride, self.extra = stride, outputs - inputs
        self.conv1, self.bn1 = conv_norm(inputs, outputs, 3, stride, 0)
        self.conv2, self.bn2 = conv_norm(outputs, outputs, 3, 1, 0)

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(same_padded(x, 3, self.stride))))
        y = self.bn2(self.conv2(same_padded(y, 3, 1)))
        return F.relu(shrunk(x, self.stride, self.extra) + y)


class CifarBlockV2(nn.Module):
    """residual_block of tf_cnn_benchmarks, version v2: the shortcut starts before batch-norm and ReLU."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.stride, self.extra = stride, outputs - inputs
        self.bn1 = nn.BatchNorm2d(inputs)
        self.conv1, self.bn2 = conv_norm(inputs, outputs, 3, stride, 0)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, bias=False)

    def forward(self, x):
        y = self.conv1(same_padded(F.relu(self.bn1(x)), 3, self.stride))
        y = self.conv2(same_padded(F.relu(self.bn2(y)), 3, 1))
        return shrunk(x, self.stride, self.extra) + y


class CifarResnet(nn.Module):
    """ResnetCifar10Model of tf_cnn_benchmarks; version v1 has no ReLU behind the first batch-norm."""

    def __init__(self, blocks, classes, block=CifarBlock):
        super().__init__()
        self.conv1, self.bn1 = conv_norm(3, 16, 3, 1, 0)
        channels = 16
        for stage, width in enumerate([16, 32, 64]):
            layers = []
            for index in range(blocks):
                layers.append(block(channels, width, 2 if stage > 0 and index == 0 else 1))
                channels = width
            setattr(self, f"layer{stage + 1}", nn.Sequential(*layers))
        if block is CifarBlockV2:
            self.bn2 = nn.BatchNorm2d(64)
        self.fc = nn.Linear(64, classes)

    def forward(self, x):
        x = self.bn1(self.conv1(same_padded(x, 3, 1)))
        is_v2 = hasattr(self, "bn2")
        x = self.layer3(self.layer2(self.layer1(F.relu(x) if is_v2 else x)))
        return self.fc((F.relu(self.bn2(x)) if is_v2 else x).mean((2, 3)))


class CifarDenseLayer(nn.Module):
    def __init__(self, inputs, growth, bias):
        super().__init__()
        self.norm = nn.BatchNorm2d(inputs)
        self.conv = nn.Conv2d(inputs, growth, 3, padding=1, bias=bias)

    def forward(self, x):
        return torch.cat([x, self.conv(F.relu(self.norm(x)))], 1)


class CifarTransition(nn.Module):
    def __init__(self, inputs, outputs, bias):
        super().__init__()
        self.norm = nn.BatchNorm2d(inputs)
        self.conv = nn.Conv2d(inputs, outputs, 1, bias=bias)

    def forward(self, x):
        return F.avg_pool2d(self.conv(F.relu(self.norm(x))), 2)


class CifarDensenet(nn.Module):
    """DensenetCifar10Model of tf_cnn_benchmarks, whose transitions have twice the growth as outputs, or the paper's."""

    def __init__(self, layers, growth, classes, paper=False):
        super().__init__()
        self.conv0 = nn.Conv2d(3, 16, 3, padding=1, bias=not paper)
        channels = 16
        for block in (1, 2, 3):
            dense = nn.Sequential()
            for layer in range(layers):
                dense.add_module(f"denselayer{layer + 1}", CifarDenseLayer(channels, growth, not paper))
                channels += growth
            setattr(self, f"denseblock{block}", dense)
            if block < 3:
                outputs = channels if paper else 2 * growth
                setattr(self, f"transition{block}", CifarTransition(channels, outputs, not paper))
                channels = outputs
        self.norm = nn.BatchNorm2d(channels)
        self.fc = nn.Linear(channels, classes)

    def forward(self, x):
        x = self.transition1(self.denseblock1(self.conv0(x)))
        x = self.denseblock3(self.transition2(self.denseblock2(x)))
        return self.fc(F.relu(self.norm(x)).mean((2, 3)))


class CifarAlexnet(nn.Module):
    """AlexnetCifar10Model of tf_cnn_benchmarks, at any image size."""

    def __init__(self, classes, size):
        super().__init__()
        self.conv0 = nn.Conv2d(3, 64, 5, padding=2)
        self.conv1 = nn.Conv2d(64, 64, 5, padding=2)
        side = -(-size // 4)
        self.affine0 = nn.Linear(64 * side * side, 384)
        self.affine1 = nn.Linear(384, 192)
        self.affine2 = nn.Linear(192, classes)

    def forward(self, x):
        # torch divides alpha by the number of channels in the window, TensorFlow does not.
        norm = lambda y: F.local_response_norm(y, 9, alpha=0.001, beta=0.75, k=1.0)
        pool = lambda y: F.max_pool2d(same_padded(y, 3, 2), 3, 2)  # of values of a ReLU
        x = norm(pool(F.relu(self.conv0(x))))
        x = pool(norm(F.relu(self.conv1(x)))).flatten(1)
        return self.affine2(F.relu(self.affine1(F.relu(self.affine0(x)))))


class Overfeat(nn.Module):
    """OverfeatModel of tf_cnn_benchmarks, at any image size."""

    def __init__(self, classes, size):
        super().__init__()
        self.conv0 = nn.Conv2d(3, 96, 11, 4)
        self.conv1 = nn.Conv2d(96, 256, 5)
        self.conv2 = nn.Conv2d(256, 512, 3, padding=1)
        self.conv3 = nn.Conv2d(512, 1024, 3, padding=1)
        self.conv4 = nn.Conv2d(1024, 1024, 3, padding=1)
        side = ((((size - 11) // 4 + 1) // 2 - 4) // 2) // 2
        self.affine0 = nn.Linear(1024 * side * side, 3072)
        self.affine1 = nn.Linear(3072, 4096)
        self.affine2 = nn.Linear(4096, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv0(x)), 2, 2)
        x = F.max_pool2d(F.relu(self.conv1(x)), 2, 2)
        x = F.relu(self.conv3(F.relu(self.conv2(x))))
        x = F.max_pool2d(F.relu(self.conv4(x)), 2, 2).flatten(1)
        return self.affine2(F.relu(self.affine1(F.relu(self.affine0(x)))))


class KerasCnn(nn.Module):
    """The convolutional network of Keras' CIFAR-10 example, at any image size."""

    def __init__(self, classes, size):
        super().__init__()
        self.conv2d = nn.Conv2d(3, 32, 3, padding=1)
        self.conv2d_1 = nn.Conv2d(32, 32, 3)
        self.conv2d_2 = nn.Conv2d(32, 64, 3, padding=1)
        self.conv2d_3 = nn.Conv2d(64, 64, 3)
        self.dense = nn.Linear(64 * (((size - 2) // 2 - 2) // 2) ** 2, 512)
        self.dense_1 = nn.Linear(512, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv2d_1(F.relu(self.conv2d(x)))), 2, 2)
        x = F.max_pool2d(F.relu(self.conv2d_3(F.relu(self.conv2d_2(x)))), 2, 2)
        return self.dense_1(F.relu(self.dense(x.flatten(1))))


class Trivial(nn.Module):
    """TrivialModel of tf_cnn_benchmarks, at any image size."""

    def __init__(self, classes, size):
        super().__init__()
        self.affine0 = nn.Linear(3 * size * size, 1)
        self.affine1 = nn.Linear(1, 4096)
        self.affine2 = nn.Linear(4096, classes)

    def forward(self, x):
        x = F.relu(self.affine0(x.flatten(1)))
        return self.affine2(F.relu(self.affine1(x)))


class Lenet5(nn.Module):
    """Lenet5Model of tf_cnn_benchmarks, at any image size."""

    def __init__(self, classes, size):
        super().__init__()
        self.conv0 = nn.Conv2d(3, 32, 5)
        self.conv1 = nn.Conv2d(32, 64, 5)
        self.affine0 = nn.Linear(64 * (size // 4) ** 2, 512)
        self.affine1 = nn.Linear(512, classes)

    def forward(self, x):
        for conv in (self.conv0, self.conv1):
            x = F.max_pool2d(F.relu(conv(same_padded(x, 5, 1))), 2, 2)
        return self.affine1(F.relu(self.affine0(x.flatten(1))))


def regnet_y_4gf(classes, size):
    """RegNetY-4.0GF of the paper's model zoo (pycls), built with torchvision's blocks."""
    shape = BlockParams([2, 6, 12, 2], [128, 192, 512, 1088], [64] * 4, [1.0] * 4, [2] * 4, se_ratio=0.25)
    return RegNet(shape, num_classes=classes)


MODELS = {
    "lenet5": Lenet5,
    "regnet_y_4gf": regnet_y_4gf,
    "resnet50_v1": lambda classes, size: PaperResnet50(classes),
    "trivial": Trivial,
    "alexnet_cifar": CifarAlexnet,
    "keras_cnn": KerasCnn,
    "overfeat": Overfeat,
    **{f"densenet{3 * n + 4}_k{k}{suffix}": lambda classes, size, n=n, k=k, suffix=suffix: CifarDensenet(
        n, k, classes, paper=bool(suffix)) for n, k in ((12, 12), (32, 12), (32, 24)) for suffix in ("", "_paper")},
    **{f"resnet{6 * n + 2}_v2": lambda classes, size, n=n: CifarResnet(n, classes, CifarBlockV2)
       for n in (3, 5, 7, 9, 18)},
    **{f"resnet{6 * n + 2}": lambda classes, size, n=n: CifarResnet(n, classes) for n in (3, 5, 7, 9, 18)},
}
