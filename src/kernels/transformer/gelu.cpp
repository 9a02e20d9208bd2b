#include "kernels/transformer/gelu.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "kernels/gpu/dispatch.h"
#include "kernels/tensor/reuse.h"
#include "kernels/transformer/transformer_kernel.h"

namespace tandem {
namespace {

constexpr int64_t grainElements = 1 << 14;

bool hasKernel(const at::Tensor& x) {
  return x.is_cpu() && isElement(x.scalar_type()) && x.is_non_overlapping_and_dense();
}

/// Calls body(first byte, values) for stretches of x, on the available threads.
template <class Body>
void overStretches(const at::Tensor& x, const Body& body) {
  at::parallel_for(0, x.numel(), grainElements, [&](int64_t begin, int64_t end) {
    body(begin * static_cast<int64_t>(x.element_size()), end - begin);
  });
}

const char* bytesOf(const at::Tensor& x) { return static_cast<const char*>(x.const_data_ptr()); }

}  // namespace

at::Tensor geluForward(const at::Tensor& x) {
  if (!hasKernel(x)) return at::gelu(x);
  at::Tensor y = at::empty_like(x);
  const Element type = elementOf(x, "gelu");
  overStretches(x, [from = bytesOf(x), to = static_cast<char*>(y.data_ptr()), type](int64_t byte, int64_t count) {
    isaKernels<TransformerKernels>().gelu(type, count, from + byte, to + byte);
  });
  return y;
}

at::Tensor geluBackward(at::Tensor gradient, const at::Tensor& x) {
  if (!hasKernel(x)) return at::gelu_backward(gradient, x);
  if (gradient.strides() != x.strides()) gradient = at::empty_like(x).copy_(gradient);
  at::Tensor dx = memoryFor(x, gradient);
  const Element type = elementOf(x, "geluBackward");
  overStretches(x, [from = bytesOf(x), of = bytesOf(gradient), to = static_cast<char*>(dx.data_ptr()), type](
                       int64_t byte, int64_t count) {
    isaKernels<TransformerKernels>().geluGradient(type, count, of + byte, from + byte, to + byte);
  });
  return dx;
}

}  // namespace tandem
