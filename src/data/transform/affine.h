#pragma once

#include <array>

#include "data/transform/byte_image.h"

namespace tandem {

/// Where the pixel (x, y) of the result comes from: (m[0] x + m[1] y + m[2], m[3] x + m[4] y + m[5]), in pixels.
using AffineMatrix = std::array<double, 6>;

/// Moves pixels in the image's own size: bicubic, `fill` where there is none. As Pillow's Image.transform with AFFINE
/// and BICUBIC, to the bit.
void moveAffine(const ByteImage& image, const AffineMatrix& origin, const std::array<uint8_t, 3>& fill);

/// The matrix of a turn about the centre, anticlockwise. As Pillow's Image.rotate, to the bit.
AffineMatrix turnOf(double degrees, int64_t height, int64_t width);

}  // namespace tandem
