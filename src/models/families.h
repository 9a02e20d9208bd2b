#pragma once

#include "models/model.h"

/// One function per family of networks; the entry's name picks the member. REQUIRES: classes and imageSize resolved.
namespace tandem {

/// ResNet for ImageNet with torchvision's parameter names: basic blocks for 18 and 34, bottlenecks for 50, 101 and 152
/// with the stride on the 3x3 (v1.5), or for resnet50_v1 on the first 1x1 as in the paper.
Graph buildResnet(const ModelEntry& entry, const ModelOptions& options);

/// ResNet-(6n + 2) for CIFAR as tf_cnn_benchmarks defines it: three stages of 16, 32 and 64 channels, no ReLU behind
/// the first batch-norm, parameter-free shortcuts (subsampled, zero channels on both sides) and TensorFlow's "SAME"
/// padding (the odd pixel behind). Parameter names follow torchvision's scheme.
Graph buildCifarResnet(const ModelEntry& entry, const ModelOptions& options);

/// VGG without batch-norm, torchvision's parameter names.
Graph buildVgg(const ModelEntry& entry, const ModelOptions& options);

/// AlexNet, one tower, as torchvision defines and names it.
Graph buildAlexnet(const ModelEntry& entry, const ModelOptions& options);

/// Three linear layers over the flattened image, the first with one output: almost no arithmetic, so that what is left
/// is the cost of everything else (tf_cnn_benchmarks).
Graph buildTrivial(const ModelEntry& entry, const ModelOptions& options);

}  // namespace tandem
