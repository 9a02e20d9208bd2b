#include "data/transform/reflection.h"

#include <ATen/ATen.h>

namespace tandem {
namespace {

/// Where the positions [begin, begin + count) of a side lie in it.
at::Tensor reflectedPositions(int64_t size, int64_t begin, int64_t count, at::Device device) {
  const at::Tensor positions = at::arange(begin, begin + count, at::device(device).dtype(at::kLong)).abs();
  return (size - 1) - (positions - (size - 1)).abs();
}

}  // namespace

at::Tensor reflectedWindow(const at::Tensor& images, const ImageWindow& window) {
  const at::Tensor rows = reflectedPositions(images.size(2), window.top, window.height, images.device()),
                   columns = reflectedPositions(images.size(3), window.left, window.width, images.device());
  return images.index_select(2, rows).index_select(3, columns);
}

}  // namespace tandem
