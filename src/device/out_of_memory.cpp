#include "device/out_of_memory.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <new>
#include <string_view>

namespace tandem {
namespace {

// Message texts of exceptions whose type does not tell.
constexpr std::array<std::string_view, 6> refusals{
    "DefaultCPUAllocator: can't allocate memory",
    "DefaultCPUAllocator: not enough memory",
    "CUDA error: out of memory",
    "CUDNN_STATUS_ALLOC_FAILED",
    "DEVICE_ALLOCATION_FAILED",
    "CUBLAS_STATUS_ALLOC_FAILED",
};

}  // namespace

bool isOutOfMemory(const std::exception& failure) {
  if (dynamic_cast<const std::bad_alloc*>(&failure) != nullptr) return true;
  if (dynamic_cast<const c10::OutOfMemoryError*>(&failure) != nullptr) return true;
  const std::string_view text = failure.what();
  return std::ranges::any_of(refusals, [&](auto refusal) { return text.find(refusal) != std::string_view::npos; });
}

}  // namespace tandem
