#include "kernels/launch.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "base/error.h"
#include "base/text.h"

#if !defined(INTRA_OP_PARALLEL) && !defined(__SANITIZE_THREAD__)
#error "at::parallel_for would run everything on one thread: compile with -fopenmp"
#endif

namespace tandem {

Element elementOf(const at::Tensor& tensor, const char* what) {
  if (tensor.scalar_type() == at::kFloat) return Element::fp32;
  if (tensor.scalar_type() == at::kBFloat16) return Element::bf16;
  throw InternalError(concat(what, ": type ", c10::toString(tensor.scalar_type()), " is neither float nor bfloat16"));
}

void* currentStream(const at::Tensor& tensor) {
  const c10::impl::VirtualGuardImpl guard(tensor.device().type());
  return guard.getStreamNativeHandle(guard.getStream(tensor.device()));
}

}  // namespace tandem
