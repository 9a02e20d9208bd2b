#include "data/transform/rotation.h"

#include <ATen/ATen.h>

#include <cmath>
#include <numbers>

namespace tandem {
namespace {

/// For each pixel of the result where it comes from, [1, H, W, 2] of x and y, each from -1 to 1. A product of matrices
/// would round by its machine.
at::Tensor origins(int64_t height, int64_t width, double degrees) {
  const double angle = -degrees * std::numbers::pi / 180;
  const auto sine = static_cast<float>(std::sin(angle)), cosine = static_cast<float>(std::cos(angle));
  const float halfWidth = static_cast<float>(width) / 2, halfHeight = static_cast<float>(height) / 2;
  const float xByX = cosine / halfWidth, xByY = sine / halfWidth;
  const float yByX = -sine / halfHeight, yByY = cosine / halfHeight;
  at::Tensor from = at::empty({1, height, width, 2}, at::kFloat);
  auto* out = from.mutable_data_ptr<float>();
  for (int64_t row = 0; row < height; ++row) {
    const float y = static_cast<float>(row) + 0.5F - halfHeight;
    for (int64_t column = 0; column < width; ++column) {
      const float x = static_cast<float>(column) + 0.5F - halfWidth;
      *out++ = std::fma(y, xByY, x * xByX);
      *out++ = std::fma(y, yByY, x * yByX);
    }
  }
  return from;
}

}  // namespace

at::Tensor rotated(const at::Tensor& image, double degrees) {
  constexpr int64_t nearest = 1, zeros = 0;
  const at::Tensor from = origins(image.size(2), image.size(3), degrees);
  return at::grid_sampler(image.to(at::kFloat), from, nearest, zeros, /*align_corners=*/false).round().to(at::kByte);
}

}  // namespace tandem
