"""The ResNets for CIFAR as tf_cnn_benchmarks defines them: no ReLU after the first convolution, padding SAME (at stride 2
one row below and one column right), shortcuts without parameters (every second pixel, zero channels on both sides)."""
import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.stride, self.extra = stride, (outputs - inputs) // 2
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 0 if stride == 2 else 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)

    def forward(self, x):
        padded = functional.pad(x, (0, 1, 0, 1)) if self.stride == 2 else x
        y = functional.relu(self.bn1(self.conv1(padded)), inplace=True)
        y = self.bn2(self.conv2(y))
        if self.stride == 2:
            x = functional.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, self.extra, self.extra))
        return functional.relu(y + x, inplace=True)


class CifarResNet(nn.Module):
    def __init__(self, blocks_per_stage, classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        blocks, width = [], 16
        for stage, outputs in enumerate((16, 32, 64)):
            for index in range(blocks_per_stage):
                blocks.append(Block(width, outputs, 2 if stage > 0 and index == 0 else 1))
                width = outputs
        self.blocks = nn.Sequential(*blocks)
        self.fc = nn.Linear(64, classes)

    def forward(self, x):
        x = self.blocks(self.bn1(self.conv1(x)))
        return self.fc(torch.flatten(functional.adaptive_avg_pool2d(x, 1), 1))
