#pragma once

#include <ATen/core/Tensor.h>

namespace tandem {

/// The sum of the squares of a contiguous vector: [] fp64 on its device. Squares are added in fp32 in rows of a few
/// thousand, and the rows in fp64; those of an fp64 vector in fp64.
at::Tensor sumOfSquares(const at::Tensor& values);

/// `ratio` where both norms are above 0, else 1. All are [].
at::Tensor ratioOrOne(const at::Tensor& ratio, const at::Tensor& first, const at::Tensor& second);

}  // namespace tandem
