#include "kernels/conv/convolution.h"

#include <utility>
#include <vector>

#include "kernels/conv/packed_convolution.h"
#include "kernels/conv/pointwise_convolution.h"
#include "kernels/conv/winograd.h"

namespace tandem {
namespace {

constexpr std::array<bool, 3> allPasses{true, true, true}, activations{true, true, false},
    weightGradient{false, false, true};

constexpr std::array algorithms{
    ConvolutionAlgorithm{"direct", "the sum that defines it, by oneDNN", allPasses, makeDirectConvolution},
    ConvolutionAlgorithm{"winograd", "3x3 with a quarter of the products, F(4x4, 3x3), computed in fp32", allPasses,
                         makeWinogradConvolution, winogradBytesPerWeight},
    ConvolutionAlgorithm{"gemm", "the weight's gradient as a product of matrices, by oneDNN", weightGradient,
                         makeGemmConvolution},
    ConvolutionAlgorithm{"packed", "the weight's gradient by our own products of packed rows", weightGradient,
                         makePackedConvolution},
    ConvolutionAlgorithm{"pointwise", "1x1 as our own products of rows, the weights packed once a step", activations,
                         makePointwiseConvolution},
};

/// Each pass by its own algorithm; passes with the same algorithm share one object.
class ByPass final : public Convolution {
 public:
  using Kernels = std::array<std::shared_ptr<Convolution>, 3>;
  explicit ByPass(Kernels kernels) : of_(std::move(kernels)) {}

  void weightsChanged() override {
    for (const auto& kernel : of_) kernel->weightsChanged();
  }
  at::Tensor forward(const at::Tensor& x) override { return of_[0]->forward(x); }
  at::Tensor forwardWithStats(const at::Tensor& x, ChannelStats& sums) override {
    return of_[0]->forwardWithStats(x, sums);
  }
  at::Tensor backwardInput(const at::Tensor& x, const at::Tensor& dy) override { return of_[1]->backwardInput(x, dy); }
  void backwardParameters(const at::Tensor& x, const at::Tensor& dy) override { of_[2]->backwardParameters(x, dy); }

 private:
  Kernels of_;
};

}  // namespace

bool convolutionsTake(at::ScalarType type) { return type == at::kFloat || type == at::kBFloat16; }

std::span<const ConvolutionAlgorithm> convolutionAlgorithms() { return algorithms; }

std::unique_ptr<Convolution> makeConvolution(const ConvolutionGeometry& geometry,
                                             const ConvolutionParameters& parameters, const PassAlgorithms& chosen) {
  std::unique_ptr<Convolution> direct = algorithms.front().make(geometry, parameters);
  if (!direct || chosen == PassAlgorithms{}) return direct;
  std::array<std::shared_ptr<Convolution>, algorithms.size()> made{std::move(direct)};
  ByPass::Kernels kernels;
  for (size_t pass = 0; pass < chosen.size(); ++pass) {
    const auto at = static_cast<size_t>(
        chosen[pass] == nullptr || !chosen[pass]->passes[pass] ? 0 : chosen[pass] - algorithms.data());
    if (!made[at]) made[at] = algorithms[at].make(geometry, parameters);
    kernels[pass] = made[at] ? made[at] : made[0];
  }
  return std::make_unique<ByPass>(std::move(kernels));
}

}  // namespace tandem
