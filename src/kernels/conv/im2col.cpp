#include "kernels/conv/im2col.h"

#include <algorithm>
#include <cstring>

namespace tandem {

// Rows of the kernel that lie in the image are one memcpy each, because NHWC keeps a row's pixels side by side.
void Patches::gather(const std::byte* images, int64_t first, int64_t last, std::byte* rows) const {
  const int64_t pixel = channels * elementSize, line = kernelW * pixel;
  for (int64_t place = first; place < last; ++place) {
    const int64_t image = place / (resultHeight * resultWidth), within = place % (resultHeight * resultWidth);
    const int64_t y = within / resultWidth * strideH - top, x = within % resultWidth * strideW - left;
    const int64_t before = std::clamp<int64_t>(-x, 0, kernelW), end = std::clamp<int64_t>(width - x, before, kernelW);
    for (int64_t row = y; row < y + kernelH; ++row, rows += line) {
      if (row < 0 || row >= height || before == end) {
        std::memset(rows, 0, line);
        continue;
      }
      const std::byte* const from = images + ((image * height + row) * width + x + before) * pixel;
      if (before > 0) std::memset(rows, 0, before * pixel);
      std::memcpy(rows + before * pixel, from, (end - before) * pixel);
      if (end < kernelW) std::memset(rows + end * pixel, 0, (kernelW - end) * pixel);
    }
  }
}

}  // namespace tandem
