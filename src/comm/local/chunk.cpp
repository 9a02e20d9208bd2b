#include <ATen/ATen.h>

#include <algorithm>

#include "comm/local/algorithms.h"

namespace tandem {
namespace {

constexpr int64_t cacheLine = 64;

}  // namespace

// Two replicas write neighbouring chunks at the same time, so a chunk never ends within a cache line.
ChunkRange chunkRange(int64_t count, int64_t elementBytes, int parts, int index) {
  const int64_t perLine = std::max<int64_t>(1, cacheLine / elementBytes);
  const int64_t lines = (count + perLine - 1) / perLine;
  const int64_t begin = std::min(count, lines * index / parts * perLine);
  const int64_t end = std::min(count, lines * (index + 1) / parts * perLine);
  return {begin, end - begin};
}

at::Tensor chunkOf(const at::Tensor& tensor, int parts, int index) {
  const ChunkRange range = chunkRange(tensor.numel(), tensor.element_size(), parts, index);
  return tensor.narrow(0, range.begin, range.count);
}

}  // namespace tandem
