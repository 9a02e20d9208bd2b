// Convolutions of ResNet-50 and depthwise ones, one pass at a time: ATen's, and each algorithm of Tandem's in each
// order of memory.
#include "kernels/conv/convolution.h"

#include <ATen/ATen.h>

#include <memory>

#include "kernels/conv/nchwc.h"
#include "rows.h"

namespace tandem::bench {
namespace {

constexpr std::array passes{"conv_forward", "conv_input_gradient", "conv_weight_gradient"};

struct Tensors {
  Tensors(const Convolution& shape, at::ScalarType type)
      : input(randomImages({"", shape.images, shape.inputs, shape.inputSize, shape.inputSize}, type)),
        weight(randomImages({"", shape.outputs, shape.inputs / shape.groups, shape.kernel, shape.kernel}, type)
                   .contiguous(at::MemoryFormat::ChannelsLast)),
        outputGradient(randomImages({"", shape.images, shape.outputs, shape.outputSize(), shape.outputSize()}, type)) {}

  at::Tensor input, weight, outputGradient;
};

Call byAten(const Convolution& shape, at::ScalarType type, size_t pass) {
  const auto t = std::make_shared<Tensors>(shape, type);
  const std::array<int64_t, 2> stride{shape.stride, shape.stride}, padding{shape.padding(), shape.padding()};
  if (pass == 0) return [=] { at::conv2d(t->input, t->weight, {}, stride, padding, {1, 1}, shape.groups); };
  return [=] {
    at::convolution_backward(t->outputGradient, t->input, t->weight, std::nullopt, stride, padding, {1, 1},
                             /*transposed=*/false, {0, 0}, shape.groups, {pass == 1, pass == 2, false});
  };
}

/// What a row of Tandem's stands for.
struct Way {
  const ConvolutionAlgorithm* algorithm;
  bool blocked;
};

/// With the weights that belong to its order; null where it does not serve.
std::unique_ptr<tandem::Convolution> kernelFor(const Convolution& shape, at::ScalarType type, const Way& way) {
  const std::array<int64_t, 4> weightShape{shape.outputs, shape.inputs / shape.groups, shape.kernel, shape.kernel};
  const bool inBlocks = way.blocked && type == at::kFloat && shape.groups == 1;
  const at::Tensor weight =
      inBlocks ? emptyBlockedWeight(weightShape)
               : at::empty(weightShape, at::TensorOptions(type).memory_format(at::MemoryFormat::ChannelsLast));
  weight.normal_();
  return way.algorithm->make({shape.stride, shape.stride, shape.padding(), shape.padding(), shape.padding(),
                              shape.padding(), shape.groups, way.blocked},
                             {weight, {}, at::empty_like(weight), {}});
}

Call byTandem(const Convolution& shape, at::ScalarType type, const Way& way, size_t pass) {
  const auto t = std::make_shared<Tensors>(shape, type);
  const std::shared_ptr<tandem::Convolution> kernel = kernelFor(shape, type, way);
  if (way.blocked) t->input = toBlocked(t->input), t->outputGradient = toBlocked(t->outputGradient);
  if (pass == 0) return [=] { kernel->forward(t->input); };
  if (pass == 1) return [=] { kernel->backwardInput(t->input, t->outputGradient); };
  return [=] { kernel->backwardParameters(t->input, t->outputGradient); };
}

}  // namespace

void addConvolutionRows(const Peaks& peaks) {
  for (size_t pass = 0; pass < passes.size(); ++pass) {
    for (const Convolution& shape : convolutions) {
      const bool isFirst = shape.inputs == 3;  // nothing needs the gradient of the images; its input is never in blocks
      if (isFirst && pass == 1) continue;
      for (const at::ScalarType type : elementTypes) {
        const std::string name = concat(passes[pass], "/", shape.name(), "/", nameOf(type), "/");
        const double peak = type == at::kFloat ? peaks.fp32.perSecond : peaks.bf16.perSecond;
        addFlopRow(name + "aten", peak, shape.flops(), [=] { return byAten(shape, type, pass); });
        for (const ConvolutionAlgorithm& algorithm : convolutionAlgorithms()) {
          for (const bool blocked : {false, true}) {
            const Way way{&algorithm, blocked};
            if ((blocked && isFirst) || !kernelFor(shape, type, way)) continue;
            addFlopRow(concat(name, algorithm.name, blocked ? "_blocked" : "_nhwc"), peak, shape.flops(),
                       [=] { return byTandem(shape, type, way, pass); });
          }
        }
      }
    }
  }
}

}  // namespace tandem::bench
