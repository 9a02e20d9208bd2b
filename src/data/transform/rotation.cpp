#include "data/transform/rotation.h"

#include <ATen/ATen.h>

#include <cmath>
#include <numbers>

namespace tandem {
namespace {

/// Distances of the pixels' centres from the middle of a side.
at::Tensor centres(int64_t pixels) {
  const double last = static_cast<double>(pixels) * 0.5 - 0.5;
  return at::linspace(-last, last, pixels, at::kFloat);
}

/// For each pixel of the result where it comes from, [1, H, W, 2] of x and y, each from -1 to 1.
at::Tensor origins(int64_t height, int64_t width, double degrees) {
  const double angle = -degrees * std::numbers::pi / 180;
  const at::Tensor places = at::empty({1, height, width, 3}, at::kFloat);
  places.select(3, 0).copy_(centres(width));
  places.select(3, 1).copy_(centres(height).unsqueeze(1));
  places.select(3, 2).fill_(1);
  const std::vector<double> inverse{std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle), 0, 0};
  const at::Tensor halves = at::tensor({static_cast<double>(width) / 2, static_cast<double>(height) / 2}, at::kFloat);
  const at::Tensor turn = at::tensor(inverse, at::kFloat).view({1, 3, 2}) / halves;
  return places.view({1, height * width, 3}).bmm(turn).view({1, height, width, 2});
}

}  // namespace

at::Tensor rotated(const at::Tensor& image, double degrees) {
  constexpr int64_t nearest = 1, zeros = 0;
  const at::Tensor from = origins(image.size(2), image.size(3), degrees);
  return at::grid_sampler(image.to(at::kFloat), from, nearest, zeros, /*align_corners=*/false).round().to(at::kByte);
}

}  // namespace tandem
