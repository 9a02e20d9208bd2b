#include "data/loader/batch_stager.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include "kernels/tensor/normalize.h"
#include "trace/span.h"

namespace tandem {

// The labels leave with the batch, and pinned memory may still be read by a copy: both are allocated anew, from caches.
const HostBatch& Staging::makeOnHost(int64_t k) {
  const at::TensorOptions memory = options_.device->hostMemory();
  if (memory.pinned_memory() || !host_.images.defined()) {
    host_ = options_.maker->allocate(memory);
  } else {
    host_.labels = at::empty_like(host_.labels);
  }
  options_.maker->make(k, host_);
  return host_;
}

Batch Staging::make(int64_t k) {
  const HostBatch& host = makeOnHost(k);
  const BatchMaker& maker = *options_.maker;
  const auto there = at::TensorOptions().device(options_.device->torch());
  Batch batch;
  batch.index = k;
  batch.data = maker.dataset().info().name;
  if (maker.plan().augment != nullptr) batch.augment = maker.plan().augment->name;
  batch.images = at::empty({maker.plan().count, 3 + options_.zeroChannels, maker.plan().height, maker.plan().width},
                           there.dtype(options_.type), options_.format);
  at::Tensor images;
  {
    const Span copying(SpanKind::hostToDevice);
    batch.labels = host.labels.to(there, /*non_blocking=*/true);
    images = host.images.to(there, /*non_blocking=*/true);
  }
  normalize(images, maker.dataset().info().normalization, batch.images);
  return batch;
}

}  // namespace tandem
