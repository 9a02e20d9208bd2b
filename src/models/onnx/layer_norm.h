#pragma once

#include "models/onnx/importer.h"

/// Layer norm over the channels of each pixel or token, written out in single operators, as models below opset 17 have
/// it: (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon) * scale + shift. Each step but the quotient is a part of
/// this pattern. All throw UsageError where an operator is none.
namespace tandem::onnx {

/// A mean over the last dimension, which has all channels and stays with size 1.
void channelMean(Call& call, const View& given);

/// x - mean(x). Both inputs are views.
void centred(Call& call);

/// The square of a tensor, as a power or as a product with itself. Layer norm reads that of x - mean(x).
void squared(Call& call);
inline constexpr std::string_view squarePart = "a square";  ///< what it makes

/// The square root of the variance and epsilon.
void deviation(Call& call);

/// The quotient of x - mean(x) and the deviation: a node `layer_norm` with scale 1 and shift 0.
void layerNormOfParts(Call& call);

}  // namespace tandem::onnx
