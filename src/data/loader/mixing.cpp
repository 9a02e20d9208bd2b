#include "data/loader/mixing.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/lerp.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "data/transform/counter_random.h"

namespace tandem {
namespace {

/// The logarithm of a number of the gamma distribution. Marsaglia, Tsang: A simple method for generating gamma
/// variables (ACM TOMS 26, 2000). With a shape below 1 the number itself may be too small for a double.
double logGamma(double shape, CounterRandom& random) {
  if (shape < 1) return logGamma(shape + 1, random) + std::log1p(-random.fraction()) / shape;
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = random.normal(), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log1p(-random.fraction()) < x * x / 2 + d - d * v + d * std::log(v)) return std::log(d * v);
  }
}

/// A number of the beta distribution (parameter, parameter).
double betaNumber(double parameter, CounterRandom& random) {
  const double one = logGamma(parameter, random), other = logGamma(parameter, random);
  return 1 / (1 + std::exp(other - one));
}

/// A rectangle of `area`, as a part of the image, around a pixel drawn at random; less where it reaches outside.
ImageWindow randomWindow(double area, const ImageSize& size, CounterRandom& random) {
  const auto stretch = [&](int64_t whole) {
    const auto length = static_cast<int64_t>(std::floor(static_cast<double>(whole) * std::sqrt(area)));
    const auto begin = static_cast<int64_t>(random.below(static_cast<uint64_t>(whole))) - length / 2;
    return std::pair(std::max<int64_t>(0, begin), std::min(whole, begin + length));
  };
  const auto [top, bottom] = stretch(size.height);
  const auto [left, right] = stretch(size.width);
  return {top, left, bottom - top, right - left};
}

/// Of each pair: what its images keep of their pixels, and of their labels.
struct Shares {
  at::Tensor pixels;  // [pairs, 1, H, W], or [pairs, 1, 1, 1] where no pair has a window
  at::Tensor labels;  // [pairs, 1]
};

Shares sharesOf(const Mixing& mixing, int64_t k, int64_t firstPair, const at::Tensor& images) {
  constexpr int64_t numbers = 6;  // of a pair: shares of pixels and label, window
  const int64_t pairs = images.size(0) / 2;
  const ImageSize size{images.size(2), images.size(3), images.size(1)};
  const at::Tensor table = at::empty({numbers, pairs}, at::kFloat);
  for (int64_t pair = 0; pair < pairs; ++pair) {
    const auto [share, window] = pairShare(mixing, k, firstPair + pair, size);
    const double exchanged =
        static_cast<double>(window.height * window.width) / static_cast<double>(size.height * size.width);
    const double row[numbers] = {share,
                                 share * (1 - exchanged),
                                 static_cast<double>(window.top),
                                 static_cast<double>(window.bottom()),
                                 static_cast<double>(window.left),
                                 static_cast<double>(window.right())};
    for (int64_t i = 0; i < numbers; ++i)
      table.mutable_data_ptr<float>()[i * pairs + pair] = static_cast<float>(row[i]);
  }
  const at::Tensor there = table.to(images.device(), /*non_blocking=*/true).view({numbers, pairs, 1, 1, 1});
  Shares shares{there[0], there[1].view({pairs, 1})};
  if (mixing.cutmix > 0) {
    const at::Tensor rows = at::arange(size.height, there.options()).view({1, 1, size.height, 1});
    const at::Tensor columns = at::arange(size.width, there.options()).view({1, 1, 1, size.width});
    const at::Tensor inside = (rows >= there[2]) & (rows < there[3]) & (columns >= there[4]) & (columns < there[5]);
    shares.pixels = at::where(inside, at::zeros({}, there.options()), there[0]);
  }
  return shares;
}

/// [N, classes] fp32.
at::Tensor sharesOfClasses(const at::Tensor& labels, int64_t classes) {
  if (labels.dim() == 2) return labels.to(at::kFloat);
  at::Tensor shares = at::zeros({labels.size(0), classes}, labels.options().dtype(at::kFloat));
  return shares.scatter_(1, labels.unsqueeze(1), 1.0);
}

/// [N, ...] in place. `share`: of its own that a row keeps, for each pair.
void mixRows(const at::Tensor& rows, const at::Tensor& share) {
  const at::Tensor pairs = rows.unflatten(0, {-1, 2});
  const at::Tensor even = pairs.select(1, 0), odd = pairs.select(1, 1), weight = share.to(rows.scalar_type());
  const at::Tensor mixedEven = at::lerp(odd, even, weight);
  odd.copy_(at::lerp(even, odd, weight));
  even.copy_(mixedEven);
}

}  // namespace

PairShare pairShare(const Mixing& mixing, int64_t k, int64_t pair, const ImageSize& size) {
  CounterRandom random(
      randomKey(RandomUse::mixing, mixing.seed, static_cast<uint64_t>(k), static_cast<uint64_t>(pair)));
  const bool cuts = mixing.mixup <= 0 || (mixing.cutmix > 0 && random.below(2) == 1);
  if (!cuts) return {.share = betaNumber(mixing.mixup, random)};
  return {.window = randomWindow(1 - betaNumber(mixing.cutmix, random), size, random)};
}

void mixNeighbours(const Mixing& mixing, int64_t k, int64_t first, Batch& batch) {
  check(first % 2 == 0 && batch.images.size(0) % 2 == 0, "mixNeighbours: whole pairs");
  const Shares shares = sharesOf(mixing, k, first / 2, batch.images);
  batch.labels = sharesOfClasses(batch.labels, mixing.classes);
  mixRows(batch.images, shares.pixels);
  mixRows(batch.labels, shares.labels);
}

}  // namespace tandem
