#include "comm/peer_sum.h"

#include <ATen/ATen.h>

#include "base/span.h"
#include "kernels/sum.h"

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
