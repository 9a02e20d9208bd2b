#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "kernels/conv/algorithms.h"
#include "kernels/conv/nchwc.h"
#include "kernels/conv/strides.h"
#include "kernels/conv/winograd_kernel.h"
#include "kernels/gpu/dispatch.h"
#include "kernels/simd/cache_size.h"

namespace tandem {
namespace {

using namespace winograd;

constexpr int64_t leastTiles = 64;  // of a part: enough products per transformed weight that is read

const Kernels& kernels() { return isaKernels<Kernels>(); }

int64_t cacheFloats() { return coreCacheBytes() / static_cast<int64_t>(sizeof(float)); }

/// Floats between two points' matrices: an odd number of cache lines. Rows x columns is mostly a power of two. With
/// that distance the 36 values of a tile would fall into the same few sets of each cache.
int64_t distance(int64_t rows, int64_t columns) {
  constexpr int64_t line = 64 / sizeof(float);
  return ((rows * columns + line - 1) / line | 1) * line;
}

/// The matrices of all points in `memory`, which is allocated if it is undefined or too small.
Matrices matrices(at::Tensor& memory, int64_t rows, int64_t columns, int64_t panel) {
  const int64_t apart = distance(rows, columns);
  if (!memory.defined() || memory.numel() < points * apart) memory = at::empty({points * apart}, at::kFloat);
  return {memory.data_ptr<float>(), rows, columns, panel, apart};
}

Tiles tilesOf(const ImageOrder& results, int64_t top, int64_t left) {
  return {(results.width + side - 1) / side, (results.height + side - 1) / side, -top, -left};
}

class WinogradConvolution final : public Convolution {
 public:
  WinogradConvolution(const ConvolutionGeometry& geometry, const ConvolutionParameters& parameters)
      : g_(geometry),
        p_(parameters),
        weights_(orderOf(parameters.weight)),
        type_(elementOf(parameters.weight, "weight")) {}

  void weightsChanged() override { forwardCurrent_ = backwardCurrent_ = false; }

  at::Tensor forward(const at::Tensor& x) override {
    const ImageOrder order = orderOf(x, weights_.inputs);
    at::Tensor y = emptyActivations(
        {order.images, weights_.outputs, order.height + g_.top + g_.bottom - 2, order.width + g_.left + g_.right - 2},
        g_.blockedOutput, x.options());
    const Matrices weights = weightPoints(false, forwardWeights_, forwardCurrent_);
    convolve(x, {g_.top, g_.left}, weights, p_.bias, y);
    return y;
  }

  // The input's gradient is a convolution of dy with the weights turned by 180 degrees, hence `flipped` and 2 -
  // padding.
  at::Tensor backwardInput(const at::Tensor& x, const at::Tensor& dy) override {
    at::Tensor dx = at::empty_like(x);
    const Matrices weights = weightPoints(true, backwardWeights_, backwardCurrent_);
    convolve(dy, {2 - g_.top, 2 - g_.left}, weights, {}, dx);
    return dx;
  }

  void backwardParameters(const at::Tensor& x, const at::Tensor& dy) override;

 private:
  struct Offset {
    int64_t top, left;
  };

  Matrices weightPoints(bool flipped, at::Tensor& memory, bool& current) const;
  void convolve(const at::Tensor& x, Offset padding, const Matrices& weights, const at::Tensor& bias,
                at::Tensor& y) const;

  ConvolutionGeometry g_;
  ConvolutionParameters p_;
  WeightOrder weights_;
  Element type_;
  at::Tensor forwardWeights_, backwardWeights_;  // transformed
  bool forwardCurrent_ = false, backwardCurrent_ = false;
};

// Transformed once per step and pass: `current` is reset when the weights change.
Matrices WinogradConvolution::weightPoints(bool flipped, at::Tensor& memory, bool& current) const {
  const int64_t rows = flipped ? weights_.outputs : weights_.inputs;
  const int64_t columns = flipped ? weights_.inputs : weights_.outputs;
  const Matrices to = matrices(memory, rows, columns, std::min(kernels().panelColumns, columns));
  if (std::exchange(current, true)) return to;
  const void* const from = p_.weight.const_data_ptr();
  at::parallel_for(0, rows / vectorLanes(), 1, [&](int64_t first, int64_t last) {
    kernels().weightsToPoints(from, {type_, weights_}, flipped, {first, last}, to);
  });
  return to;
}

// Each thread takes some tiles at a time through all three steps, while their points are in its cache.
void WinogradConvolution::convolve(const at::Tensor& x, Offset padding, const Matrices& weights, const at::Tensor& bias,
                                   at::Tensor& y) const {
  const ImageOrder order = orderOf(x, weights.rows), results = orderOf(y, weights.columns);
  const Tiles tiles = tilesOf(results, padding.top, padding.left);
  const int64_t perTile = points * (weights.rows + weights.columns);
  // Half of the cache for the points of inputs and results; the panels of the weights pass through the rest.
  const int64_t atOnce = std::max(leastTiles, cacheFloats() / 2 / perTile);
  const void* const from = x.const_data_ptr();
  const void* const added = bias.defined() ? bias.const_data_ptr() : nullptr;
  void* const to = y.mutable_data_ptr();
  at::parallel_for(0, results.images * tiles.across * tiles.down, 1, [&](int64_t begin, int64_t end) {
    const int64_t rows = std::min(atOnce, end - begin);
    at::Tensor inputMemory, resultMemory;
    const Matrices input = matrices(inputMemory, rows, weights.rows, weights.rows);
    const Matrices result = matrices(resultMemory, rows, weights.columns, weights.columns);
    for (int64_t first = begin; first < end; first += rows) {
      const Range range{first, std::min(end, first + rows)};
      kernels().inputToPoints(from, {type_, order}, {tiles, first, range}, input);
      for (int point = 0; point < points; ++point) {
        kernels().multiply({input, weights, result, false, false}, point, range.last - first);
      }
      kernels().pointsToOutput(result, added, to, {type_, results}, {tilesOf(results, 0, 0), first, range});
    }
  });
}

// The points of some tiles are computed first, by all threads; then each thread multiplies some of the points. Each sum
// continues where the previous tiles ended, so it does not depend on the number of threads.
void WinogradConvolution::backwardParameters(const at::Tensor& x, const at::Tensor& dy) {
  const ImageOrder inputs = orderOf(x, weights_.inputs), results = orderOf(dy, weights_.outputs);
  const Tiles ofInput = tilesOf(results, g_.top, g_.left), ofResults = tilesOf(results, 0, 0);
  const int64_t count = results.images * ofInput.across * ofInput.down;
  const int64_t perTile = points * (weights_.inputs + weights_.outputs);
  // At least as many floats of tiles as of sums at a time: every part reads and writes all sums.
  const int64_t sums = points * weights_.inputs * weights_.outputs;
  const int64_t cached = at::get_num_threads() * cacheFloats() / 2;
  const int64_t atOnce = std::min(count, std::max(leastTiles, std::max(sums, cached) / perTile));
  at::Tensor inputMemory, gradientMemory, sumMemory;
  // The sums of all 36 products stay until the last tile, so they are transformed back and rounded only once.
  const Matrices sum = matrices(sumMemory, weights_.inputs, weights_.outputs, weights_.outputs);
  for (int64_t begin = 0; begin < count; begin += atOnce) {
    const int64_t rows = std::min(atOnce, count - begin);
    const Matrices input = matrices(inputMemory, rows, weights_.inputs, weights_.inputs);
    const Matrices gradient =
        matrices(gradientMemory, rows, weights_.outputs, std::min(kernels().panelColumns, weights_.outputs));
    at::parallel_for(begin, begin + rows, 1, [&](int64_t first, int64_t last) {
      const Range range{first, last};
      kernels().inputToPoints(x.const_data_ptr(), {type_, inputs}, {ofInput, begin, range}, input);
      kernels().outputGradientToPoints(dy.const_data_ptr(), {type_, results}, {ofResults, begin, range}, gradient);
    });
    at::parallel_for(0, points, 1, [&](int64_t first, int64_t last) {
      for (int64_t point = first; point < last; ++point) {
        kernels().multiply({input, gradient, sum, true, begin > 0}, point, weights_.inputs);
      }
    });
  }
  void* const to = p_.weightGradient.mutable_data_ptr();
  at::parallel_for(0, weights_.inputs / vectorLanes(), 1, [&](int64_t first, int64_t last) {
    kernels().pointsToWeightGradient(sum, to, {type_, orderOf(p_.weightGradient)}, {first, last});
  });
  if (p_.bias.defined()) sumChannels(dy, p_.biasGradient);
}

}  // namespace

std::unique_ptr<Convolution> makeWinogradConvolution(const ConvolutionGeometry& g,
                                                     const ConvolutionParameters& parameters) {
  const at::Tensor& weight = parameters.weight;
  if (!convolutionsTake(weight.scalar_type()) || !weight.is_cpu()) return nullptr;
  if (!hasOrder(weight)) return nullptr;
  const WeightOrder order = orderOf(weight);
  const bool padded = std::max({g.top, g.bottom, g.left, g.right}) > 2;
  const bool square = weight.size(-1) == 3 && weight.size(-2) == 3;
  if (!square || padded || g.strideH != 1 || g.strideW != 1 || g.groups != 1) return nullptr;
  if (!canBlock(order.inputs) || !canBlock(order.outputs)) return nullptr;
  return std::make_unique<WinogradConvolution>(g, parameters);
}

}  // namespace tandem
