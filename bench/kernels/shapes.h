#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/text.h"

namespace tandem::bench {

/// A value of a network at the batch it is measured with: ResNet-50 at 16 images, ResNet-20 at 128.
struct Activation {
  const char* model;
  int64_t images, channels, height, width;

  int64_t count() const { return images * channels * height * width; }
  std::string name() const { return concat(model, "_", channels, "x", height, "x", width); }
};

/// Outputs of batch-norm with ReLU alone, and with a residual before it: the largest, one between, the smallest.
inline constexpr std::array plainActivations{
    Activation{"resnet50", 16, 64, 112, 112}, Activation{"resnet50", 16, 128, 28, 28},
    Activation{"resnet50", 16, 512, 7, 7},    Activation{"resnet20", 128, 16, 32, 32},
    Activation{"resnet20", 128, 64, 8, 8},
};
inline constexpr std::array residualActivations{
    Activation{"resnet50", 16, 256, 56, 56}, Activation{"resnet50", 16, 512, 28, 28},
    Activation{"resnet50", 16, 2048, 7, 7},  Activation{"resnet20", 128, 16, 32, 32},
    Activation{"resnet20", 128, 64, 8, 8},
};

/// Images as data sets hold them.
inline constexpr std::array inputImages{Activation{"resnet50", 16, 3, 224, 224},
                                        Activation{"resnet20", 128, 3, 32, 32}};

/// Parameters in one piece: whole networks, and the largest convolution of ResNet-50.
struct Parameters {
  const char* name;
  int64_t count;
};
inline constexpr std::array parameterCounts{Parameters{"resnet50", 25557032},
                                            Parameters{"resnet50_layer4_3x3", 2359296}, Parameters{"resnet20", 269722}};

/// Rows and classes of the logits.
struct Logits {
  const char* name;
  int64_t rows, classes;
};
inline constexpr std::array logits{Logits{"resnet50_16x1000", 16, 1000}, Logits{"resnet20_128x10", 128, 10}};

/// A convolution over square images, padded to keep the size but for the stride.
struct Convolution {
  int64_t inputs, inputSize, outputs, kernel, stride, groups = 1;

  static constexpr int64_t images = 16;
  int64_t outputSize() const { return inputSize / stride; }
  int64_t padding() const { return kernel / 2; }
  /// Of forward, of the input's gradient and of the weight's gradient: a multiplication and an addition per product.
  double flops() const {
    return 2.0 *
           static_cast<double>(images * outputs * (inputs / groups) * kernel * kernel * outputSize() * outputSize());
  }
  std::string name() const {
    return concat(inputs, "x", inputSize, "x", inputSize, "_to_", outputs, "_", kernel, "x", kernel, "_stride", stride,
                  groups > 1 ? concat("_groups", groups) : "");
  }
};
inline constexpr std::array convolutions{
    // ResNet-50
    Convolution{3, 224, 64, 7, 2},
    Convolution{64, 56, 64, 3, 1},
    Convolution{64, 56, 256, 1, 1},
    Convolution{256, 56, 64, 1, 1},
    Convolution{128, 56, 128, 3, 2},
    Convolution{128, 28, 128, 3, 1},
    Convolution{256, 56, 512, 1, 2},
    Convolution{256, 14, 256, 3, 1},
    Convolution{1024, 14, 256, 1, 1},
    Convolution{512, 7, 512, 3, 1},
    Convolution{512, 7, 2048, 1, 1},
    // MobileNet-v2, EfficientNet-B0, ConvNeXt-Tiny
    Convolution{32, 112, 32, 3, 1, 32},
    Convolution{96, 112, 96, 3, 2, 96},
    Convolution{144, 56, 144, 3, 1, 144},
    Convolution{384, 14, 384, 3, 1, 384},
    Convolution{144, 56, 144, 5, 2, 144},
    Convolution{480, 14, 480, 5, 1, 480},
    Convolution{1152, 7, 1152, 5, 1, 1152},
    Convolution{96, 56, 96, 7, 1, 96},
};

}  // namespace tandem::bench
