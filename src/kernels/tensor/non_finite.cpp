#include "kernels/tensor/non_finite.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/DeviceGuard.h>

#include <atomic>

#include "base/error.h"
#include "kernels/gpu/dispatch.h"
#include "kernels/tensor/non_finite_kernel.h"

namespace tandem {
namespace {

constexpr int64_t grainElements = 1 << 16;

}  // namespace

void markNonFinite(const at::Tensor& values, at::Tensor mark) {
  check(values.is_contiguous(), "markNonFinite: values [n], contiguous");
  check(mark.numel() == 1 && mark.scalar_type() == at::kFloat && mark.device() == values.device(),
        "markNonFinite: a mark [1] fp32 beside the values");
  const NonFiniteArguments arguments{values.const_data_ptr(), elementOf(values, "markNonFinite")};
  const int64_t count = values.numel();
  if (count == 0) return;
  if (!values.is_cpu()) {
    const c10::DeviceGuard guard(values.device());
    return gpu::markNonFinite(arguments, count, mark.data_ptr<float>(), currentStream(values));
  }
  std::atomic<bool> found{false};
  at::parallel_for(0, count, grainElements, [&](int64_t first, int64_t last) {
    if (cpu::hasNonFinite(arguments, first, last)) found.store(true, std::memory_order_relaxed);
  });
  if (found) *mark.data_ptr<float>() = 1;
}

}  // namespace tandem
