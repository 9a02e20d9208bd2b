#include "comm/local/local_reduce.h"

#include <ATen/ATen.h>

#include "kernels/tensor/sum.h"
#include "trace/span.h"

namespace tandem {

void copyFromPeer(const at::Tensor& out, const at::Tensor& source) {
  const Span copying(SpanKind::exchange);
  out.copy_(source);
}

void sumFromPeers(const at::Tensor& out, std::vector<at::Tensor> sources) {
  if (out.numel() == 0) return;
  const Span summing(SpanKind::exchange);
  for (at::Tensor& source : sources) {
    if (source.device() != out.device()) source = source.to(out.device());
  }
  sumInto(out, sources);
}

}  // namespace tandem
