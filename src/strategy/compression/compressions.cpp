#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

#include "strategy/compression/compression.h"

namespace tandem {
namespace {

constexpr CompressionEntry table[] = {
    {"powersgd", "two factors of --compression-rank for each matrix (Vogels et al. 2019); vectors whole",
     Collective::sum, 2, /*usesRatio=*/false, /*usesRank=*/true, makePowerSgd},
    {"onebit", "the sign of each value, and for each row the means of both signs (Seide et al. 2014); vectors whole",
     Collective::gather, 1, /*usesRatio=*/false, /*usesRank=*/false, makeOneBit},
    {"topk", "the largest values of each parameter, by --compression-ratio, with their places", Collective::gather, 1,
     /*usesRatio=*/true, /*usesRank=*/false, makeTopK},
};

}  // namespace

std::span<const CompressionEntry> compressions() { return table; }

const CompressionEntry& methodOf(const CompressionOptions& options) {
  return options.method == nullptr ? table[0] : *options.method;
}

// Blocked weights: the flat order is [rows / b, columns, b of rows], whatever the columns stand for.
at::Tensor GradientMatrix::in(const at::Tensor& bucket) const {
  return bucket.as_strided({rows / block, block, columns}, {columns * block, 1, block},
                           bucket.storage_offset() + begin);
}

std::vector<GradientMatrix> matricesOf(const FlatBuffers& buffers, Slice bucket) {
  std::vector<GradientMatrix> matrices;
  for (const int parameter : buffers.parametersIn(bucket)) {
    const ParameterSpec& spec = buffers.spec(parameter);
    const Slice slice = buffers.slice(parameter);
    const bool isVector = spec.shape.size() < 2;
    const int64_t rows = isVector ? 1 : spec.shape.front();
    matrices.push_back({.parameter = parameter,
                        .begin = slice.begin - bucket.begin,
                        .rows = rows,
                        .columns = slice.count() / rows,
                        .isVector = isVector,
                        .block = std::max<int64_t>(1, spec.block)});
  }
  return matrices;
}

void keepUnless(const at::Tensor& skipped, at::Tensor& kept, at::Tensor& next) {
  if (skipped.defined()) next.copy_(at::where(skipped.ne(0), kept, next));
  std::swap(kept, next);
}

}  // namespace tandem
