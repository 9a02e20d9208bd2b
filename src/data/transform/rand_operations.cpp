#include "data/transform/rand_operations.h"

#include <algorithm>
#include <cmath>

#include "data/transform/affine.h"
#include "data/transform/enhancement.h"

namespace tandem {
namespace {

/// The mean of ImageNet's images, where pixels come from outside.
constexpr std::array<uint8_t, 3> fill{124, 116, 104};

/// Changes each byte by itself.
template <class Change>
void each(const ByteImage& image, Change change) {
  ByteTable table{};
  for (int i = 0; i < 256; ++i) table.at(static_cast<size_t>(i)) = static_cast<uint8_t>(change(i));
  mapBytes(image, table);
}

double noValue(double) { return 0; }
double degrees(double level) { return level * 30; }
double shearing(double level) { return level * 0.3; }
double shareOfSide(double level) { return level * 0.45; }
double enhancement(double level) { return std::max(0.1, 1 + level * 0.9); }
double keptBits(double level) { return 4 - std::trunc(level * 4); }
double threshold(double level) { return 256 - std::trunc(level * 256); }
double addition(double level) { return std::trunc(level * 110); }

void invert(const ByteImage& image, double) {
  each(image, [](int byte) { return 255 - byte; });
}

/// Keeps the highest bits; without one the image is black.
void posterize(const ByteImage& image, double bits) {
  each(image, [mask = 0xFF00 >> static_cast<int>(bits)](int byte) { return byte & mask; });
}

void solarize(const ByteImage& image, double from) {
  each(image, [from](int byte) { return byte < from ? byte : 255 - byte; });
}

void solarizeAdd(const ByteImage& image, double more) {
  each(image, [add = static_cast<int>(more)](int byte) { return byte < 128 ? std::min(255, byte + add) : byte; });
}

void rotate(const ByteImage& image, double angle) { moveAffine(image, turnOf(angle, image.height, image.width), fill); }

void shearX(const ByteImage& image, double factor) { moveAffine(image, {1, factor, 0, 0, 1, 0}, fill); }

void shearY(const ByteImage& image, double factor) { moveAffine(image, {1, 0, 0, factor, 1, 0}, fill); }

void translateX(const ByteImage& image, double share) {
  moveAffine(image, {1, 0, share * static_cast<double>(image.width), 0, 1, 0}, fill);
}

void translateY(const ByteImage& image, double share) {
  moveAffine(image, {1, 0, 0, 0, 1, share * static_cast<double>(image.height)}, fill);
}

constexpr RandOperation table[] = {
    {"auto_contrast", false, noValue, [](const ByteImage& image, double) { autoContrast(image); }},
    {"equalize", false, noValue, [](const ByteImage& image, double) { equalize(image); }},
    {"invert", false, noValue, invert},
    {"rotate", true, degrees, rotate},
    {"posterize", false, keptBits, posterize},
    {"solarize", false, threshold, solarize},
    {"solarize_add", false, addition, solarizeAdd},
    {"color", true, enhancement, enhanceColour},
    {"contrast", true, enhancement, enhanceContrast},
    {"brightness", true, enhancement, enhanceBrightness},
    {"sharpness", true, enhancement, enhanceSharpness},
    {"shear_x", true, shearing, shearX},
    {"shear_y", true, shearing, shearY},
    {"translate_x", true, shareOfSide, translateX},
    {"translate_y", true, shareOfSide, translateY},
};

}  // namespace

std::span<const RandOperation> randOperations() { return table; }

}  // namespace tandem
