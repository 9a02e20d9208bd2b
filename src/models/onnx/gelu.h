#pragma once

#include <optional>

#include "models/onnx/importer.h"

/// GELU: one operator, or written out as models below opset 20 have it. It is x * (1 + erf(x / sqrt(2))) / 2, or by
/// tanh x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2 (Hendrycks and Gimpel, arXiv:1606.08415). Each step but
/// the product with x is a part of this pattern; gatedByItself() of elements.cpp knows that product.
namespace tandem::onnx {

/// What 1 is added to: parts of the pattern, made of x.
inline constexpr std::string_view erfOfGelu = "erf of GELU", tanhOfGelu = "tanh of GELU";

void gelu(Call& call);

/// erf(x / sqrt(2)). Throws UsageError for another argument.
void erf(Call& call);

/// x^3, as a power.
void cubed(Call& call);
/// x^3, as a product; empty for another product.
std::optional<View> cubeOf(const Call& call, const View& x, const View& square);

/// x + 0.044715 * x^3; empty for another sum.
std::optional<View> cubicOf(const Call& call, const View& x, const View& cube);

/// The tanh of it; empty for another argument.
std::optional<View> tanhOf(const Call& call, const View& argument);

}  // namespace tandem::onnx
