#pragma once

#include "models/model.h"

/// One function per family of networks. The entry's name selects the member. REQUIRES: classes and imageSize are
/// resolved.
namespace tandem {

/// ResNet for ImageNet with torchvision's parameter names.
/// - 18 and 34 have basic blocks.
/// - 50, 101 and 152 have bottlenecks with the stride on the 3x3 (v1.5). The _v1 have it on the first 1x1, as in the
/// paper.
/// - resnext50_32x4d and wide_resnet50_2 have bottlenecks twice as wide, the former's in 32 groups.
/// - keras_resnet50 is Keras' v1: convolutions with bias, epsilon 1.001e-5, running statistics that keep 99 %.
/// - resnet18_cifar starts with a 3x3 convolution of stride 1 and no pooling.
Graph buildResnet(const ModelEntry& entry, const ModelOptions& options);

/// ResNet v2 for ImageNet (He et al. 2016, arXiv:1603.05027) with timm's parameter names. Batch-norm and ReLU precede
/// each convolution. The networks follow tf_cnn_benchmarks: batch-norm and ReLU in the stem too, "SAME" padding of the
/// pooling, stride on the first 1x1. resnetv2_50 follows timm, with the stride on the 3x3.
Graph buildResnetV2(const ModelEntry& entry, const ModelOptions& options);

/// The network of airbench94 (Jordan 2024, arXiv:2404.00498), with its parameter names. Its first convolution whitens
/// the images. The last pooling covers the whole image.
Graph buildAirbench(const ModelEntry& entry, const ModelOptions& options);

/// ResNet-9 of the DAWNBench CIFAR-10 records (Page 2018), with its parameter names. The last pooling covers the whole
/// image.
Graph buildResnet9(const ModelEntry& entry, const ModelOptions& options);

/// ResNet-(6n + 2) for CIFAR as tf_cnn_benchmarks defines it. It has three stages of 16, 32 and 64 channels and no ReLU
/// after the first batch-norm. Shortcuts have no parameters: they are subsampled, with zero channels on both sides.
/// Padding is TensorFlow's "SAME", with the odd pixel last. In the v2 networks batch-norm and ReLU precede the
/// convolutions (He et al. 2016, arXiv:1603.05027). Parameter names follow torchvision's scheme.
Graph buildCifarResnet(const ModelEntry& entry, const ModelOptions& options);

/// VGG without batch-norm, with torchvision's parameter names: configurations A, B, D and E of the paper.
Graph buildVgg(const ModelEntry& entry, const ModelOptions& options);

/// AlexNet with one tower, as torchvision defines and names it.
Graph buildAlexnet(const ModelEntry& entry, const ModelOptions& options);

/// GoogLeNet as torchvision defines it: with batch-norm, 3x3 instead of the paper's 5x5, and two auxiliary heads.
Graph buildGooglenet(const ModelEntry& entry, const ModelOptions& options);

/// Inception-v3 as torchvision defines it. It has the auxiliary head if images have at least 299 pixels.
Graph buildInceptionV3(const ModelEntry& entry, const ModelOptions& options);

/// Inception-v3 as Keras defines it, with torchvision's parameter names. Batch-norm has no scale, averages leave
/// padding out, and there is neither auxiliary head nor dropout.
Graph buildKerasInceptionV3(const ModelEntry& entry, const ModelOptions& options);

/// Inception-v4, with timm's parameter names.
Graph buildInceptionV4(const ModelEntry& entry, const ModelOptions& options);

/// NASNet-A for ImageNet, 4 @ 1056 and 6 @ 4032, with timm's definition and parameter names. It lacks the auxiliary
/// head, and the drop-path, whose probability depends on the step.
Graph buildNasnet(const ModelEntry& entry, const ModelOptions& options);

/// DenseNet-BC with growth 32 and torchvision's parameter names.
Graph buildDensenet(const ModelEntry& entry, const ModelOptions& options);

/// AlexNet for CIFAR as tf_cnn_benchmarks defines it, with local response normalisation.
Graph buildCifarAlexnet(const ModelEntry& entry, const ModelOptions& options);

/// DenseNet without bottlenecks for CIFAR as tf_cnn_benchmarks defines it; NAME_paper follows the paper.
Graph buildCifarDensenet(const ModelEntry& entry, const ModelOptions& options);

/// OverFeat, the fast model, as tf_cnn_benchmarks defines it.
Graph buildOverfeat(const ModelEntry& entry, const ModelOptions& options);

/// The convolutional network of Keras' CIFAR-10 example, with its layer names.
Graph buildKerasCnn(const ModelEntry& entry, const ModelOptions& options);

/// Four convolutions and two linear layers for CIFAR. A comparison of frameworks trains this network in each of them.
Graph buildFrameworksCnn(const ModelEntry& entry, const ModelOptions& options);

/// Five linear layers over the first 8000 values of an image and by default one sigmoid: the perceptron of kuza55's
/// article. Exchange and update take nearly all of the time.
Graph buildMlp(const ModelEntry& entry, const ModelOptions& options);

/// MobileNet-v2 of width 1, with torchvision's parameter names.
Graph buildMobilenetV2(const ModelEntry& entry, const ModelOptions& options);

/// SqueezeNet 1.0 and 1.1, with torchvision's parameter names.
Graph buildSqueezenet(const ModelEntry& entry, const ModelOptions& options);

/// EfficientNet-B0, with torchvision's parameter names.
Graph buildEfficientnet(const ModelEntry& entry, const ModelOptions& options);

/// RegNetY, with torchvision's parameter names.
Graph buildRegnet(const ModelEntry& entry, const ModelOptions& options);

/// ConvNeXt-Tiny, with torchvision's parameter names.
Graph buildConvnext(const ModelEntry& entry, const ModelOptions& options);

/// ViT-B/16, with torchvision's parameter names. The number of position embeddings follows from the image size.
Graph buildVisionTransformer(const ModelEntry& entry, const ModelOptions& options);

/// SSD-300 with ResNet-34 as tf_cnn_benchmarks defines it. The ResNet ends with the third stage at 38x38 pixels; five
/// smaller levels follow. Each level gives the offsets and scores of its default boxes. The output is [4 + classes,
/// 8732, 1]; class 0 is the background. Images have 300 pixels.
Graph buildSsd300(const ModelEntry& entry, const ModelOptions& options);

/// LeNet-5 as tf_cnn_benchmarks defines it: two convolutions with "SAME" padding, each followed by max pooling, and two
/// linear layers.
Graph buildLenet(const ModelEntry& entry, const ModelOptions& options);

/// Three linear layers over the flattened image, the first with one output (tf_cnn_benchmarks). There is almost no
/// arithmetic, so it shows the cost of everything else.
Graph buildTrivial(const ModelEntry& entry, const ModelOptions& options);

}  // namespace tandem
