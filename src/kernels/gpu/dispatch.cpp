#include "kernels/gpu/dispatch.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/text.h"

#if !defined(INTRA_OP_PARALLEL) && !defined(__SANITIZE_THREAD__)
#error "at::parallel_for would run everything on one thread: compile with -fopenmp"
#endif

namespace tandem {

namespace {

std::optional<Element> knownElement(at::ScalarType type) {
  if (type == at::kFloat) return Element::fp32;
  if (type == at::kBFloat16) return Element::bf16;
  if (type == at::kHalf) return Element::fp16;
  return std::nullopt;
}

}  // namespace

bool isElement(at::ScalarType type) { return knownElement(type).has_value(); }

Element elementOf(at::ScalarType type, const char* what) {
  if (const auto element = knownElement(type)) return *element;
  throw InternalError(concat(what, ": type ", c10::toString(type), " is none of float, bfloat16 and half"));
}

Element elementOf(const at::Tensor& tensor, const char* what) { return elementOf(tensor.scalar_type(), what); }

int accessWidth(Element type, int widest, int64_t channels, std::initializer_list<const void*> addresses) {
  const auto size = static_cast<uintptr_t>(widest) * static_cast<uintptr_t>(bytesOf(type));
  const auto isAligned = [&](const void* address) { return reinterpret_cast<uintptr_t>(address) % size == 0; };
  return channels % widest == 0 && std::ranges::all_of(addresses, isAligned) ? widest : 1;
}

void* currentStream(const at::Tensor& tensor) {
  const c10::impl::VirtualGuardImpl guard(tensor.device().type());
  return guard.getStreamNativeHandle(guard.getStream(tensor.device()));
}

}  // namespace tandem
