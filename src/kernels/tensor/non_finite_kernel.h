#pragma once

#include <cstdint>

#include "kernels/simd/element.h"

namespace tandem {

struct NonFiniteArguments {
  const void* values;
  Element type;
};

namespace cpu {
/// Whether one of the elements [first, last) is infinite or NaN.
bool hasNonFinite(const NonFiniteArguments& arguments, int64_t first, int64_t last);
}  // namespace cpu

namespace gpu {
/// *mark = 1 if there is one.
void markNonFinite(const NonFiniteArguments& arguments, int64_t count, float* mark, void* stream);
}  // namespace gpu

}  // namespace tandem
