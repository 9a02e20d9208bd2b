#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <utility>

#include "kernels/conv/algorithms.h"
#include "kernels/conv/depthwise.h"
#include "kernels/conv/nchwc.h"
#include "kernels/conv/strides.h"
#include "kernels/gpu/dispatch.h"

namespace tandem {
namespace {

const depthwise::Kernels& kernels() { return isaKernels<depthwise::Kernels>(); }

/// [C, 1, kH, kW] as [C / lanes, kH * kW, lanes] in fp32.
at::Tensor filtersOf(const at::Tensor& weight) {
  const int64_t lanes = vectorLanes(), taps = weight.size(2) * weight.size(3);
  return weight.reshape({weight.size(0) / lanes, lanes, taps}).transpose(1, 2).to(at::kFloat).contiguous();
}

const float* valuesOf(const at::Tensor& tensor) { return tensor.defined() ? tensor.const_data_ptr<float>() : nullptr; }

class DepthwiseConvolution final : public Convolution {
 public:
  DepthwiseConvolution(const ConvolutionGeometry& geometry, const ConvolutionParameters& parameters)
      : g_(geometry),
        p_(parameters),
        window_{parameters.weight.size(2), parameters.weight.size(3), geometry.strideH, geometry.top, geometry.left} {}

  void weightsChanged() override { current_ = false; }

  at::Tensor forward(const at::Tensor& x) override {
    const ImageOrder order = orderOf(x, channels());
    const auto outputs = [this](int64_t pixels, int64_t before, int64_t after, int64_t taps) {
      return (pixels + before + after - taps) / window_.stride + 1;
    };
    at::Tensor y = emptyActivations({order.images, channels(), outputs(x.size(2), g_.top, g_.bottom, window_.height),
                                     outputs(x.size(3), g_.left, g_.right, window_.width)},
                                    g_.blockedOutput, x.options());
    bringWeights();
    pass(kernels().forward, x, y, window_, filters_, bias_);
    return y;
  }

  // With stride 1 each pixel meets the same outputs as in forward, in the opposite order.
  at::Tensor backwardInput(const at::Tensor& x, const at::Tensor& dy) override {
    at::Tensor dx = at::empty_like(x);
    bringWeights();
    if (window_.stride > 1) {
      pass(kernels().backwardStrided, dy, dx, window_, filters_, {});
    } else {
      if (!turned_.defined()) turned_ = filters_.flip(1);
      depthwise::Window window = window_;
      window.top = window.height - 1 - window.top, window.left = window.width - 1 - window.left;
      pass(kernels().forward, dy, dx, window, turned_, {});
    }
    return dx;
  }

  // Threads share the channels and, as there may be few, parts of the images. Parts hang on the batch alone, and are
  // added in their order: the number of threads does not change a bit.
  void backwardParameters(const at::Tensor& x, const at::Tensor& dy) override {
    constexpr int64_t mostParts = 8;
    const int64_t lanes = vectorLanes(), vectors = channels() / lanes, images = orderOf(dy, channels()).images;
    const int64_t parts = std::min(images, mostParts);
    const at::Tensor sums = at::zeros({parts, vectors, window_.taps() + 1, lanes}, at::kFloat);
    at::parallel_for(0, parts * vectors, 1, [&](int64_t begin, int64_t end) {
      while (begin < end) {
        const int64_t part = begin / vectors, first = begin % vectors, last = std::min(first + end - begin, vectors);
        const int64_t image = images * part / parts, behind = images * (part + 1) / parts;
        const auto own = [&](const at::Tensor& all) {
          const int64_t rows = all.size(0) / images;
          return all.narrow(0, image * rows, (behind - image) * rows);
        };
        const at::Tensor ownX = own(x), ownDy = own(dy);
        const depthwise::FilterGradient gradient{ownX.const_data_ptr(),
                                                 ownDy.const_data_ptr(),
                                                 orderOf(ownX, channels()),
                                                 orderOf(ownDy, channels()),
                                                 elementOf(x, "a depthwise convolution"),
                                                 window_,
                                                 sums[part].mutable_data_ptr<float>()};
        kernels().gradients(gradient, first, last);
        begin += last - first;
      }
    });
    const at::Tensor total = sums.sum(0), filters = total.narrow(1, 0, window_.taps());
    p_.weightGradient.copy_(filters.transpose(1, 2).reshape(p_.weight.sizes()));
    if (p_.biasGradient.defined()) p_.biasGradient.copy_(total.select(1, window_.taps()).reshape({channels()}));
  }

 private:
  int64_t channels() const { return p_.weight.size(0); }

  void bringWeights() {
    if (std::exchange(current_, true)) return;
    filters_ = filtersOf(p_.weight);
    turned_ = at::Tensor();
    bias_ = p_.bias.defined() ? p_.bias.to(at::kFloat) : p_.bias;
  }

  void pass(void (*compute)(const depthwise::Pass&, int64_t, int64_t), const at::Tensor& from, const at::Tensor& to,
            const depthwise::Window& window, const at::Tensor& filters, const at::Tensor& bias) const {
    const depthwise::Pass pass{from.const_data_ptr(),
                               to.mutable_data_ptr(),
                               orderOf(from, channels()),
                               orderOf(to, channels()),
                               elementOf(from, "a depthwise convolution"),
                               window,
                               valuesOf(filters),
                               valuesOf(bias)};
    at::parallel_for(0, depthwise::linesOf(pass.toOrder, vectorLanes()), 1,
                     [&](int64_t first, int64_t last) { compute(pass, first, last); });
  }

  ConvolutionGeometry g_;
  ConvolutionParameters p_;
  depthwise::Window window_;
  at::Tensor filters_, turned_, bias_;  // turned_: made when it is needed
  bool current_ = false;
};

}  // namespace

std::unique_ptr<Convolution> makeDepthwiseConvolution(const ConvolutionGeometry& g,
                                                      const ConvolutionParameters& parameters) {
  const at::Tensor& weight = parameters.weight;
  if (!convolutionsTake(weight.scalar_type()) || !weight.is_cpu() || weight.dim() != 4) return nullptr;
  const bool isDepthwise = weight.size(1) == 1 && weight.size(0) == g.groups && canBlock(g.groups);
  if (!isDepthwise || g.strideH != g.strideW || !depthwise::serves(weight.size(2), weight.size(3), g.strideW))
    return nullptr;
  return std::make_unique<DepthwiseConvolution>(g, parameters);
}

}  // namespace tandem
