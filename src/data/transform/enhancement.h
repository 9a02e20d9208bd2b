#pragma once

#include <array>
#include <cstdint>

#include "data/transform/byte_image.h"

namespace tandem {

// Changes of bytes in place, each as Pillow's function of this name in ImageOps or ImageEnhance, to the bit.

using ByteTable = std::array<uint8_t, 256>;

/// Replaces each byte by what the table has in its place.
void mapBytes(const ByteImage& image, const ByteTable& table);

void autoContrast(const ByteImage& image);
void equalize(const ByteImage& image);

// Factor 1 changes nothing; 0 gives a grey, evenly grey, black or smoothed image; above 1 it goes away from that.
void enhanceColour(const ByteImage& image, double factor);
void enhanceContrast(const ByteImage& image, double factor);
void enhanceBrightness(const ByteImage& image, double factor);
void enhanceSharpness(const ByteImage& image, double factor);

}  // namespace tandem
