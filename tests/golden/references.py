"""References of the models that torchvision does not have: timm's own, or plain ones written from their definitions."""
import timm
import torch
import torchvision
from timm.models import nasnet
from torch import nn
from torch.nn import functional as F
from torchvision.models.regnet import BlockParams, RegNet


BLOCKS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}


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


class PaperResnet(nn.Module):
    def __init__(self, classes, blocks_of_stages):
        super().__init__()
        self.conv1, self.bn1 = conv_norm(3, 64, 7, 2, 3)
        channels = 64
        for stage, (blocks, width) in enumerate(zip(blocks_of_stages, (64, 128, 256, 512))):
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


def keras_resnet50(classes, size):
    """Keras' ResNet50: the paper's, with a bias in each convolution, epsilon 1.001e-5 and momentum 0.99."""
    model = PaperResnet(classes, BLOCKS[50])
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, nn.Conv2d):
                setattr(module, name, nn.Conv2d(child.in_channels, child.out_channels, child.kernel_size, child.stride,
                                                child.padding))
            if isinstance(child, nn.BatchNorm2d):
                child.eps, child.momentum = 1.001e-5, 0.01
    return model


class PreActivationBottleneck(nn.Module):
    """bottleneck_block_v2 of tf_cnn_benchmarks: the shortcut's convolution reads behind batch-norm and ReLU, and the
    stride is on the first convolution."""

    def __init__(self, inputs, outputs, stride, projects):
        super().__init__()
        width = outputs // 4
        self.norm1, self.norm2, self.norm3 = (nn.BatchNorm2d(n) for n in (inputs, width, width))
        self.conv1 = nn.Conv2d(inputs, width, 1, stride, bias=False)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.conv3 = nn.Conv2d(width, outputs, 1, bias=False)
        if projects:
            self.downsample = nn.Sequential()
            self.downsample.add_module("conv", nn.Conv2d(inputs, outputs, 1, stride, bias=False))

    def forward(self, x):
        y = F.relu(self.norm1(x))
        shortcut = self.downsample(y) if hasattr(self, "downsample") else x
        y = self.conv2(F.relu(self.norm2(self.conv1(y))))
        return self.conv3(F.relu(self.norm3(y))) + shortcut


class PreActivationResnet(nn.Module):
    """ResnetModel of tf_cnn_benchmarks, version v2."""

    def __init__(self, classes, blocks_of_stages):
        super().__init__()
        self.stem, self.head, self.stages = nn.Sequential(), nn.Sequential(), nn.Sequential()
        for name, layer in zip(("conv", "norm"), conv_norm(3, 64, 7, 2, 3)):
            self.stem.add_module(name, layer)
        channels = 64
        for stage, (blocks, outputs) in enumerate(zip(blocks_of_stages, (256, 512, 1024, 2048))):
            layers = nn.Sequential()
            for block in range(blocks):
                stride = 2 if stage > 0 and block == 0 else 1
                layers.append(PreActivationBottleneck(channels, outputs, stride, block == 0))
                channels = outputs
            self.stages.append(nn.Sequential())
            self.stages[stage].add_module("blocks", layers)
        self.norm = nn.BatchNorm2d(2048)
        self.head.add_module("fc", nn.Linear(2048, classes))

    def forward(self, x):
        x = F.max_pool2d(same_padded(F.relu(self.stem(x)), 3, 2), 3, 2)
        return self.head(F.relu(self.norm(self.stages(x))).mean((2, 3)))


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


class FrameworksCnn(nn.Module):
    """The network for CIFAR-10 of the notebooks of ilkarman/DeepLearningFrameworks, at any image size."""

    def __init__(self, classes, size):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 50, 3, padding=1)
        self.conv2 = nn.Conv2d(50, 50, 3, padding=1)
        self.conv3 = nn.Conv2d(50, 100, 3, padding=1)
        self.conv4 = nn.Conv2d(100, 100, 3, padding=1)
        self.fc1 = nn.Linear(100 * (size // 4) ** 2, 512)
        self.fc2 = nn.Linear(512, classes)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.conv2(F.relu(self.conv1(x))), 2, 2))
        x = F.relu(F.max_pool2d(self.conv4(F.relu(self.conv3(x))), 2, 2))
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


class Resnet9(nn.Module):
    """The network of dawn.py of davidcpage/cifar10-fast, at any image size."""

    def __init__(self, classes, size):
        super().__init__()
        residual = [(f"layer{n}_residual_res{i}", c, c) for n, c in ((1, 128), (3, 512)) for i in (1, 2)]
        for name, inputs, outputs in (("prep", 3, 64), ("layer1", 64, 128), ("layer2", 128, 256), ("layer3", 256, 512),
                                      *residual):
            for kind, layer in zip(("conv", "bn"), conv_norm(inputs, outputs, 3, 1, 1)):
                setattr(self, f"{name}_{kind}", layer)
        self.linear = nn.Linear(512, classes, bias=False)

    def block(self, name, x):
        return F.relu(getattr(self, name + "_bn")(getattr(self, name + "_conv")(x)))

    def forward(self, x):
        x = self.block("prep", x)
        for layer in ("layer1", "layer2", "layer3"):
            x = F.max_pool2d(self.block(layer, x), 2)
            if layer != "layer2":
                x = x + self.block(layer + "_residual_res2", self.block(layer + "_residual_res1", x))
        x = F.max_pool2d(x, x.shape[2])
        return 0.125 * self.linear(x.flatten(1))


def shifted_norm(channels, **options):
    """Batch-norm without a scale."""
    norm = nn.BatchNorm2d(channels, **options)
    norm.weight = None
    return norm


class AirbenchGroup(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
        self.norm1 = shifted_norm(outputs, eps=1e-12, momentum=0.4)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.norm2 = shifted_norm(outputs, eps=1e-12, momentum=0.4)

    def forward(self, x):
        x = F.gelu(self.norm1(F.max_pool2d(self.conv1(x), 2)))
        return F.gelu(self.norm2(self.conv2(x)))


class Rescale(nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        return x * self.factor


def airbench94(classes, size):
    """The network of KellerJordan/cifar10-airbench, at any image size."""
    side = (size - 1) // 2 // 2 // 2
    return nn.Sequential(nn.Conv2d(3, 24, 2), nn.GELU(), AirbenchGroup(24, 64), AirbenchGroup(64, 256),
                         AirbenchGroup(256, 256), nn.MaxPool2d(side, 1), nn.Flatten(), nn.Linear(256, classes, bias=False),
                         Rescale(1 / 9))


def resnet18_cifar(classes, size):
    """torchvision's blocks behind the stem that small images get."""
    model = torchvision.models.resnet18(num_classes=classes)
    model.conv1, model.maxpool = nn.Conv2d(3, 64, 3, padding=1, bias=False), nn.Identity()
    return model


class Mlp(nn.Module):
    """The five layers of kuza55's example, over the first 8000 values of an image."""

    def __init__(self, classes, size):
        super().__init__()
        sizes = (8000, 4000, 2000, 500, 300, classes)
        for index in range(5):
            setattr(self, f"dense_{index + 1}", nn.Linear(sizes[index], sizes[index + 1]))

    def forward(self, x):
        x = torch.tanh(self.dense_1(x.flatten(1)[:, :8000]))
        return self.dense_5(F.relu(self.dense_4(F.relu(self.dense_3(F.relu(self.dense_2(x)))))))


class KerasInceptionV3(torchvision.models.Inception3):
    """torchvision's modules with what Keras does otherwise: batch-norm without scale and with momentum 0.99, averages
    over the pixels inside only."""

    def __init__(self, classes):
        super().__init__(num_classes=classes, aux_logits=False, init_weights=False)
        for module in self.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.weight, module.momentum = None, 0.01

    def forward(self, x):
        average = F.avg_pool2d
        F.avg_pool2d = lambda *window, **options: average(*window, **options, count_include_pad=False)
        try:
            return super().forward(x)
        finally:
            F.avg_pool2d = average


class NasnetMobile(nn.Module):
    """NASNet-A 4 @ 1056 of timm's cells; a stage's first cell reads the reduction and what that has read."""

    def __init__(self, classes, cells=4, channels=44, stem=32):
        super().__init__()
        same = {"pad_type": "same"}
        self.cells = cells
        self.conv0 = nn.Sequential()
        self.conv0.add_module("conv", nn.Conv2d(3, stem, 3, 2, bias=False))
        self.conv0.add_module("bn", nn.BatchNorm2d(stem, eps=0.001))
        self.cell_stem_0 = nasnet.CellStem0(stem, channels // 4, **same)
        self.cell_stem_1 = nasnet.CellStem1(stem, channels // 2, **same)
        before, at, number = channels, 2 * channels, 0  # channels of the newest two values
        for stage in range(3):
            width = channels << stage
            if stage:
                cell = nasnet.ReductionCell0(before, width, at, width, **same)
                setattr(self, f"reduction_cell_{stage - 1}", cell)
                before, at = at, 4 * width
            for index in range(cells):
                kind, left = (nasnet.FirstCell, width // 2) if index == 0 else (nasnet.NormalCell, width)
                setattr(self, f"cell_{number}", kind(before, left, at, width, **same))
                before, at, number = at, 6 * width, number + 1
        self.last_linear = nn.Linear(at, classes)

    def forward(self, x):
        before = self.conv0(x)
        at = self.cell_stem_0(before)
        before, at = at, self.cell_stem_1(before, at)
        number = 0
        for stage in range(3):
            if stage:
                before, at = at, getattr(self, f"reduction_cell_{stage - 1}")(at, before)
            for _ in range(self.cells):
                before, at = at, getattr(self, f"cell_{number}")(at, before)
                number += 1
        return self.last_linear(F.relu(at).mean((2, 3)))


class SsdBlock(nn.Module):
    """A residual block of ResNet-34 with the batch-norm of SSD."""

    def __init__(self, inputs, outputs, stride, projects):
        super().__init__()
        norm = lambda: nn.BatchNorm2d(outputs, eps=1e-4, momentum=0.003)
        self.conv1, self.bn1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), norm()
        self.conv2, self.bn2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), norm()
        if projects:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), norm())

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (self.downsample(x) if hasattr(self, "downsample") else x))


class Ssd300(nn.Module):
    """SSD300Model of tf_cnn_benchmarks; returns [N, 4 + classes, 8732]."""

    def __init__(self, classes):
        super().__init__()
        self.backbone = nn.Module()
        self.backbone.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.backbone.bn1 = nn.BatchNorm2d(64, eps=1e-4, momentum=0.003)
        channels = 64
        for stage, (blocks, outputs, stride) in enumerate(((3, 64, 1), (4, 128, 2), (6, 256, 1))):
            layers = nn.Sequential()
            for block in range(blocks):
                first = stage > 0 and block == 0
                layers.append(SsdBlock(channels, outputs, stride if first else 1, first))
                channels = outputs
            setattr(self.backbone, f"layer{stage + 1}", layers)
        self.additional_blocks, self.loc, self.conf = nn.ModuleList(), nn.ModuleList(), nn.ModuleList()
        levels = [256]
        for squeezed, outputs, stride in ((256, 512, 2), (256, 512, 2), (128, 256, 2), (128, 256, 1), (128, 256, 1)):
            self.additional_blocks.append(nn.Sequential(
                nn.Conv2d(levels[-1], squeezed, 1), nn.ReLU(), nn.Conv2d(squeezed, outputs, 3, stride), nn.ReLU()))
            levels.append(outputs)
        self.classes, self.boxes = classes, (4, 6, 6, 6, 4, 4)
        for inputs, boxes in zip(levels, self.boxes):
            self.loc.append(nn.Conv2d(inputs, 4 * boxes, 3, padding=1))
            self.conf.append(nn.Conv2d(inputs, classes * boxes, 3, padding=1))

    def forward(self, x):
        x = F.relu(self.backbone.bn1(self.backbone.conv1(x)))
        x = F.max_pool2d(same_padded(x, 3, 2), 3, 2)
        x = self.backbone.layer3(self.backbone.layer2(self.backbone.layer1(x)))
        levels = [x]
        for block in self.additional_blocks:
            x = F.relu(block[0](x))
            x = F.relu(block[2](same_padded(x, 3, 2) if block[2].stride == (2, 2) else x))
            levels.append(x)
        parts = []
        for x, loc, conf, boxes in zip(levels, self.loc, self.conf, self.boxes):
            values = [head(x).reshape(len(x), boxes, count, -1).transpose(1, 2).flatten(2)
                      for head, count in ((loc, 4), (conf, self.classes))]
            parts.append(torch.cat(values, 1))
        return torch.cat(parts, 2)


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
    "airbench94": airbench94,
    "lenet5": Lenet5,
    "regnet_y_4gf": regnet_y_4gf,
    "frameworks_cnn": FrameworksCnn,
    "keras_inception_v3": lambda classes, size: KerasInceptionV3(classes),
    "keras_resnet50": keras_resnet50,
    "mlp": Mlp,
    "nasnet_mobile": lambda classes, size: NasnetMobile(classes),
    "resnet18_cifar": resnet18_cifar,
    "resnet9": Resnet9,
    **{name: lambda classes, size, timms=timms: timm.create_model(timms, num_classes=classes) for name, timms in (
        ("inception_v4", "inception_v4"), ("nasnet_large", "nasnetalarge"), ("resnetv2_50", "resnetv2_50"))},
    **{f"resnet{depth}_v1": lambda classes, size, blocks=blocks: PaperResnet(classes, blocks)
       for depth, blocks in BLOCKS.items()},
    **{f"resnet{depth}_v2": lambda classes, size, blocks=blocks: PreActivationResnet(classes, blocks)
       for depth, blocks in BLOCKS.items()},
    "ssd300": lambda classes, size: Ssd300(classes),
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
