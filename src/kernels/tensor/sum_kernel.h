#pragma once

#include <cstdint>

#include "kernels/simd/element.h"

namespace tandem {

struct SumArguments {
  static constexpr int most = 64;  ///< most sources: the struct is a kernel argument
  void* out;
  const void* sources[most];
  int sourceCount;
  Element type;
};

namespace cpu {
/// Elements [first, last).
void sumInto(const SumArguments& arguments, int64_t first, int64_t last);
}  // namespace cpu

namespace gpu {
void sumInto(const SumArguments& arguments, int64_t count, void* stream);
}  // namespace gpu

}  // namespace tandem
