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


class CifarBlock(nn.Module):
    """residual_block of tf_cnn_benchmarks, version v1, shortcut of plan A."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.stride, self.extra = stride, outputs - inputs
        self.conv1, self.bn1 = conv_norm(inputs, outputs, 3, stride, 0)
        self.conv2, self.bn2 = conv_norm(outputs, outputs, 3, 1, 0)

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(same_padded(x, 3, self.stride))))
        y = self.bn2(self.conv2(same_padded(y, 3, 1)))
        if self.extra:
            x = F.avg_pool2d(x, 1, self.stride)
            zeros = x.new_zeros(x.shape[0], self.extra // 2, *x.shape[2:])
            x = torch.cat([zeros, x, zeros], 1)
        return F.relu(x + y)


class CifarResnet(nn.Module):
    """ResnetCifar10Model of tf_cnn_benchmarks, version v1: no ReLU behind the first batch-norm."""

    def __init__(self, blocks, classes):
        super().__init__()
        self.conv1, self.bn1 = conv_norm(3, 16, 3, 1, 0)
        channels = 16
        for stage, width in enumerate([16, 32, 64]):
            layers = []
            for block in range(blocks):
                layers.append(CifarBlock(channels, width, 2 if stage > 0 and block == 0 else 1))
                channels = width
            setattr(self, f"layer{stage + 1}", nn.Sequential(*layers))
        self.fc = nn.Linear(64, classes)

    def forward(self, x):
        x = self.bn1(self.conv1(same_padded(x, 3, 1)))
        x = self.layer3(self.layer2(self.layer1(x)))
        return self.fc(x.mean((2, 3)))


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
    **{f"resnet{6 * n + 2}": lambda classes, size, n=n: CifarResnet(n, classes) for n in (3, 5, 7, 9, 18)},
}
