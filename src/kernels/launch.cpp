#include "kernels/launch.h"

#include <ATen/ATen.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "base/error.h"
#include "base/text.h"

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
