#include "kernels/conv/convolution.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/conv/algorithms.h"

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
    ConvolutionAlgorithm{"depthwise", "a filter for each channel, by our own sums", allPasses,
                         makeDepthwiseConvolution},
};

constexpr size_t passCount = std::tuple_size_v<PassAlgorithms>;

/// Passes of different algorithms; passes with the same algorithm share one object.
class ByPass final : public Convolution {
 public:
  using Made = std::array<std::unique_ptr<Convolution>, algorithms.size()>;  // by row; null: not used
  using Rows = std::array<size_t, passCount>;
  ByPass(Made made, const Rows& rows) : made_(std::move(made)), rows_(rows) {}

  void weightsChanged() override {
    for (const auto& kernel : made_) {
      if (kernel) kernel->weightsChanged();
    }
  }
  at::Tensor forward(const at::Tensor& x) override { return of(0).forward(x); }
  at::Tensor forwardWithStats(const at::Tensor& x, ChannelStats& sums) override {
    return of(0).forwardWithStats(x, sums);
  }
  at::Tensor backwardInput(const at::Tensor& x, const at::Tensor& dy) override { return of(1).backwardInput(x, dy); }
  void backwardParameters(const at::Tensor& x, const at::Tensor& dy) override { of(2).backwardParameters(x, dy); }

 private:
  Convolution& of(size_t pass) const { return *made_[rows_[pass]]; }

  Made made_;
  Rows rows_;
};

/// The row whose algorithm computes a pass when `chosen` is asked for.
size_t rowOf(const ConvolutionAlgorithm* chosen, size_t pass) {
  return chosen == nullptr || !chosen->passes[pass] ? 0 : static_cast<size_t>(chosen - algorithms.data());
}

}  // namespace

bool convolutionsTake(at::ScalarType type) { return type == at::kFloat || type == at::kBFloat16; }

std::span<const ConvolutionAlgorithm> convolutionAlgorithms() { return algorithms; }

std::unique_ptr<Convolution> makeConvolution(const ConvolutionGeometry& geometry,
                                             const ConvolutionParameters& parameters, const PassAlgorithms& chosen) {
  ByPass::Made made;
  made.front() = algorithms.front().make(geometry, parameters);
  if (!made.front()) return nullptr;
  ByPass::Rows rows{};
  for (size_t pass = 0; pass < passCount; ++pass) {
    const size_t row = rowOf(chosen[pass], pass);
    if (!made[row]) made[row] = algorithms[row].make(geometry, parameters);
    rows[pass] = made[row] ? row : 0;
  }
  const bool same = std::ranges::all_of(rows, [&](size_t row) { return row == rows.front(); });
  if (same) return std::move(made[rows.front()]);
  return std::make_unique<ByPass>(std::move(made), rows);
}

}  // namespace tandem
