#include "data/loader/batch_stager.h"

#include <ATen/ops/empty.h>

#include "kernels/tensor/normalize.h"
#include "trace/span.h"

namespace tandem {

namespace {

/// [N, 3, H, W] of images of either order.
at::Tensor channelsFirst(const at::Tensor& images) {
  return images.size(3) == 3 ? images.permute({0, 3, 1, 2}) : images;
}

}  // namespace

Staging::Staging(const SourceOptions& options)
    : options_(options), origin_(std::make_shared<const BatchOrigin>(options.batches->origin())) {}

Batch staged(const HostBatch& host, const Normalization& normalization, const InputForm& form) {
  const auto there = at::TensorOptions().device(form.device->torch());
  at::Tensor images;
  Batch batch;
  {
    const Span copying(SpanKind::hostToDevice);
    batch.labels = host.labels.to(there, /*non_blocking=*/true);
    images = host.images.to(there, /*non_blocking=*/true);
  }
  const at::Tensor planes = channelsFirst(images);
  const int64_t channels = planes.size(1);
  batch.images = at::empty({planes.size(0), channels + form.zeroChannels, planes.size(2), planes.size(3)},
                           there.dtype(form.type), form.format);
  if (images.scalar_type() == at::kByte) {
    normalize(images, normalization, batch.images);
  } else {
    batch.images.narrow(1, 0, channels).copy_(planes);
    batch.images.narrow(1, channels, form.zeroChannels).zero_();
  }
  return batch;
}

Batch Staging::make(int64_t k) {
  options_.batches->make(k, options_.form.device->hostMemory(), host_);
  Batch batch = staged(host_, options_.batches->normalization(), options_.form);
  if (options_.mixing.any()) mixNeighbours(options_.mixing, options_.firstBatch + k, options_.firstImage, batch);
  batch.index = k;
  batch.origin = origin_;
  return batch;
}

}  // namespace tandem
