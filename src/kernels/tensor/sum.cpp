#include "kernels/tensor/sum.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/DeviceGuard.h>

#include "base/error.h"
#include "kernels/gpu/dispatch.h"
#include "kernels/tensor/sum_kernel.h"

namespace tandem {
namespace {

constexpr int64_t grainElements = 1 << 15;

SumArguments argumentsOf(at::Tensor& out, std::span<const at::Tensor> sources) {
  check(!sources.empty() && sources.size() <= SumArguments::most, "sumInto: 1 to 64 sources");
  check(out.dim() == 1 && out.is_contiguous(), "sumInto: out [n]");
  SumArguments arguments{};
  arguments.out = out.data_ptr();
  arguments.type = elementOf(out, "sumInto");
  for (const at::Tensor& source : sources) {
    check(source.sizes() == out.sizes() && source.is_contiguous() && source.scalar_type() == out.scalar_type() &&
              source.device() == out.device(),
          "sumInto: sources like out");
    arguments.sources[arguments.sourceCount++] = source.const_data_ptr();
  }
  return arguments;
}

}  // namespace

void sumInto(at::Tensor out, std::span<const at::Tensor> sources) {
  const SumArguments arguments = argumentsOf(out, sources);
  const int64_t count = out.numel();
  if (count == 0) return;
  if (!out.is_cpu()) {
    const c10::DeviceGuard guard(out.device());
    return gpu::sumInto(arguments, count, currentStream(out));
  }
  at::parallel_for(0, count, grainElements, [&](int64_t first, int64_t last) { cpu::sumInto(arguments, first, last); });
}

void sumIntoReference(at::Tensor out, std::span<const at::Tensor> sources) {
  at::Tensor sum = sources[0].to(at::kFloat, false, true);
  for (const at::Tensor& source : sources.subspan(1)) sum.add_(source.to(at::kFloat));
  out.copy_(sum);
}

}  // namespace tandem
