#include "data/transform/interpolation.h"

#include <ATen/ATen.h>

namespace tandem {
namespace {

at::Tensor bilinear(const at::Tensor& image, int64_t height, int64_t width) {
  return at::_upsample_bilinear2d_aa(image, {height, width}, /*align_corners=*/false);
}

at::Tensor bicubic(const at::Tensor& image, int64_t height, int64_t width) {
  return at::_upsample_bicubic2d_aa(image, {height, width}, /*align_corners=*/false);
}

constexpr Interpolation table[] = {
    {"bilinear", "a triangle as wide as the scale", bilinear},
    {"bicubic", "a piecewise cubic, twice as wide; sharper, and it takes longer", bicubic},
};

}  // namespace

std::span<const Interpolation> interpolations() { return table; }

}  // namespace tandem
