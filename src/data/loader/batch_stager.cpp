#include "data/loader/batch_stager.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include "kernels/tensor/normalize.h"
#include "trace/span.h"

namespace tandem {

Staging::Staging(const SourceOptions& options) : options_(options) {
  const auto augment = options.maker->plan().augment;
  const DatasetInfo& info = options.maker->dataset().info();
  const auto channels = [](const auto& values) { return std::vector<double>(values.begin(), values.end()); };
  origin_ = std::make_shared<const BatchOrigin>(BatchOrigin{info.name, augment ? augment->text : "",
                                                            channels(info.normalization.mean),
                                                            channels(info.normalization.deviation)});
}

// Allocated anew from caches: labels leave with the batch, and a copy may still be reading pinned memory.
const HostBatch& Staging::makeOnHost(int64_t k) {
  const at::TensorOptions memory = options_.form.device->hostMemory();
  if (memory.pinned_memory() || !host_.images.defined()) {
    host_ = options_.maker->allocate(memory);
  } else {
    host_.labels = at::empty_like(host_.labels);
  }
  options_.maker->make(k, host_);
  return host_;
}

Batch staged(const HostBatch& host, const Normalization& normalization, const InputForm& form) {
  const auto there = at::TensorOptions().device(form.device->torch());
  const at::IntArrayRef shape = host.images.sizes();  // [N, H, W, 3]
  Batch batch;
  batch.images =
      at::empty({shape[0], shape[3] + form.zeroChannels, shape[1], shape[2]}, there.dtype(form.type), form.format);
  at::Tensor images;
  {
    const Span copying(SpanKind::hostToDevice);
    batch.labels = host.labels.to(there, /*non_blocking=*/true);
    images = host.images.to(there, /*non_blocking=*/true);
  }
  normalize(images, normalization, batch.images);
  return batch;
}

Batch Staging::make(int64_t k) {
  const BatchMaker& maker = *options_.maker;
  Batch batch = staged(makeOnHost(k), maker.dataset().info().normalization, options_.form);
  batch.index = k;
  batch.origin = origin_;
  return batch;
}

}  // namespace tandem
