#pragma once

#include "models/model.h"

/// One function per family of networks; the entry's name picks the member. REQUIRES: classes and imageSize resolved.
namespace tandem {

/// ResNet for ImageNet with torchvision's parameter names: basic blocks for 18 and 34, bottlenecks for 50, 101 and 152
/// with the stride on the 3x3 (v1.5), or for the _v1 on the first 1x1 as in the paper. In resnext50_32x4d and
/// wide_resnet50_2 the bottlenecks are twice as wide, in the former in 32 groups. keras_resnet50 is v1 as Keras has it:
/// convolutions with bias, epsilon 1.001e-5, running statistics that keep 99 %. resnet18_cifar starts with a 3x3
/// convolution of stride 1 and no pooling.
Graph buildResnet(const ModelEntry& entry, const ModelOptions& options);

/// ResNet v2 for ImageNet (He et al. 2016, arXiv:1603.05027), batch-norm and ReLU before each convolution, timm's
/// parameter names. As tf_cnn_benchmarks defines it, with batch-norm and ReLU in the stem too, "SAME" padding of the
/// pooling and the stride on the first 1x1; resnetv2_50 as timm does, with the stride on the 3x3.
Graph buildResnetV2(const ModelEntry& entry, const ModelOptions& options);

/// ResNet-9 of the DAWNBench CIFAR-10 records (Page 2018), its parameter names; the last pooling takes the whole image.
Graph buildResnet9(const ModelEntry& entry, const ModelOptions& options);

/// ResNet-(6n + 2) for CIFAR as tf_cnn_benchmarks defines it: three stages of 16, 32 and 64 channels, no ReLU behind
/// the first batch-norm, parameter-free shortcuts (subsampled, zero channels on both sides) and TensorFlow's "SAME"
/// padding (the odd pixel behind). In the v2 ones batch-norm and ReLU stand before the convolutions (He et al. 2016,
/// arXiv:1603.05027). Parameter names follow torchvision's scheme.
Graph buildCifarResnet(const ModelEntry& entry, const ModelOptions& options);

/// VGG without batch-norm, torchvision's parameter names: configurations A, B, D and E of the paper.
Graph buildVgg(const ModelEntry& entry, const ModelOptions& options);

/// AlexNet, one tower, as torchvision defines and names it.
Graph buildAlexnet(const ModelEntry& entry, const ModelOptions& options);

/// GoogLeNet as torchvision defines it: with batch-norm, 3x3 for the paper's 5x5, and two auxiliary heads.
Graph buildGooglenet(const ModelEntry& entry, const ModelOptions& options);

/// Inception-v3 as torchvision defines it, with its auxiliary head (where images of 299 pixels or more leave enough).
Graph buildInceptionV3(const ModelEntry& entry, const ModelOptions& options);

/// Inception-v3 as Keras defines it, torchvision's parameter names: batch-norm without scale, averages that leave
/// padding out, neither auxiliary head nor dropout.
Graph buildKerasInceptionV3(const ModelEntry& entry, const ModelOptions& options);

/// Inception-v4, timm's parameter names.
Graph buildInceptionV4(const ModelEntry& entry, const ModelOptions& options);

/// NASNet-A for ImageNet, 4 @ 1056 and 6 @ 4032, timm's definition and parameter names; without the dropout of paths,
/// whose probability grows with the steps, and the auxiliary head.
Graph buildNasnet(const ModelEntry& entry, const ModelOptions& options);

/// DenseNet-BC with growth 32, torchvision's parameter names.
Graph buildDensenet(const ModelEntry& entry, const ModelOptions& options);

/// AlexNet for CIFAR as tf_cnn_benchmarks defines it, with local response normalisation.
Graph buildCifarAlexnet(const ModelEntry& entry, const ModelOptions& options);

/// DenseNet without bottlenecks for CIFAR, as tf_cnn_benchmarks defines it or, NAME_paper, as the paper does.
Graph buildCifarDensenet(const ModelEntry& entry, const ModelOptions& options);

/// OverFeat, the fast one, as tf_cnn_benchmarks defines it.
Graph buildOverfeat(const ModelEntry& entry, const ModelOptions& options);

/// The convolutional network of Keras' CIFAR-10 example, its layer names.
Graph buildKerasCnn(const ModelEntry& entry, const ModelOptions& options);

/// Four convolutions and two linear layers for CIFAR, as a comparison of frameworks trains them in each of them.
Graph buildFrameworksCnn(const ModelEntry& entry, const ModelOptions& options);

/// Five linear layers over the first 8000 values of an image and by default one sigmoid, the perceptron of kuza55's
/// article: nearly all of the time goes into exchange and update.
Graph buildMlp(const ModelEntry& entry, const ModelOptions& options);

/// MobileNet-v2 of width 1, torchvision's parameter names.
Graph buildMobilenetV2(const ModelEntry& entry, const ModelOptions& options);

/// SqueezeNet 1.0 and 1.1, torchvision's parameter names.
Graph buildSqueezenet(const ModelEntry& entry, const ModelOptions& options);

/// EfficientNet-B0, torchvision's parameter names.
Graph buildEfficientnet(const ModelEntry& entry, const ModelOptions& options);

/// RegNetY, torchvision's parameter names.
Graph buildRegnet(const ModelEntry& entry, const ModelOptions& options);

/// ConvNeXt-Tiny, torchvision's parameter names.
Graph buildConvnext(const ModelEntry& entry, const ModelOptions& options);

/// ViT-B/16, torchvision's parameter names; the number of position embeddings follows from the size of the images.
Graph buildVisionTransformer(const ModelEntry& entry, const ModelOptions& options);

/// SSD-300 with ResNet-34 as tf_cnn_benchmarks defines it, a ResNet that ends with the third stage at 38x38 pixels,
/// five smaller levels, and the offsets and scores of each level's default boxes: the output is [4 + classes, 8732, 1],
/// class 0 the background. Images have 300 pixels.
Graph buildSsd300(const ModelEntry& entry, const ModelOptions& options);

/// LeNet-5 as tf_cnn_benchmarks defines it: two convolutions with "SAME" padding, each with a max pool, and two linear
/// layers.
Graph buildLenet(const ModelEntry& entry, const ModelOptions& options);

/// Three linear layers over the flattened image, the first with one output: almost no arithmetic, so that what is left
/// is the cost of everything else (tf_cnn_benchmarks).
Graph buildTrivial(const ModelEntry& entry, const ModelOptions& options);

}  // namespace tandem
