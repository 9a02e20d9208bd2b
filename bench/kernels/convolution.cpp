// Convolutions of ResNet-50 as the executor calls them: forward, and the gradients of input and weight one at a time.
#include <ATen/ATen.h>

#include <memory>

#include "rows.h"

namespace tandem::bench {
namespace {

struct Tensors {
  Tensors(const Convolution& shape, at::ScalarType type)
      : input(randomImages({"", shape.images, shape.inputs, shape.inputSize, shape.inputSize}, type)),
        weight(randomImages({"", shape.outputs, shape.inputs, shape.kernel, shape.kernel}, type)
                   .contiguous(at::MemoryFormat::ChannelsLast)),
        outputGradient(randomImages({"", shape.images, shape.outputs, shape.outputSize(), shape.outputSize()}, type)),
        stride{shape.stride, shape.stride},
        padding{shape.padding(), shape.padding()} {}

  at::Tensor forward() const { return at::conv2d(input, weight, {}, stride, padding); }
  at::Tensor inputGradient() const { return std::get<0>(backward({true, false, false})); }
  at::Tensor weightGradient() const { return std::get<1>(backward({false, true, false})); }

  std::tuple<at::Tensor, at::Tensor, at::Tensor> backward(std::array<bool, 3> wanted) const {
    return at::convolution_backward(outputGradient, input, weight, std::nullopt, stride, padding, {1, 1},
                                    /*transposed=*/false, {0, 0}, /*groups=*/1, wanted);
  }

  at::Tensor input, weight, outputGradient;
  std::array<int64_t, 2> stride, padding;
};

struct Pass {
  const char* name;
  at::Tensor (Tensors::*run)() const;
};
constexpr std::array passes{Pass{"conv_forward", &Tensors::forward},
                            Pass{"conv_input_gradient", &Tensors::inputGradient},
                            Pass{"conv_weight_gradient", &Tensors::weightGradient}};

void addRow(const Pass& pass, const Convolution& shape, at::ScalarType type, const Peaks& peaks) {
  const auto prepare = [=, run = pass.run]() -> Call {
    const auto tensors = std::make_shared<Tensors>(shape, type);
    return [=] { (*tensors.*run)(); };
  };
  addFlopRow(concat(pass.name, "/", shape.name(), "/", nameOf(type)), type == at::kFloat ? peaks.fp32 : peaks.bf16,
             shape.flops(), prepare);
}

}  // namespace

void addConvolutionRows(const Peaks& peaks) {
  for (const Pass& pass : passes) {
    for (const Convolution& shape : convolutions) {
      const bool isFirst = shape.inputs == 3;  // nothing needs the gradient of the images
      if (isFirst && pass.run == &Tensors::inputGradient) continue;
      for (const at::ScalarType type : elementTypes) addRow(pass, shape, type, peaks);
    }
  }
}

}  // namespace tandem::bench
