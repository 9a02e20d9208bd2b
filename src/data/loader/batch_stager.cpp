#include "data/loader/batch_stager.h"

#include <ATen/ops/empty.h>

#include <array>

#include "kernels/tensor/normalize.h"
#include "trace/span.h"

namespace tandem {

namespace {

/// Of images that are normalised already: [N, H, W, 3], or [N, 3, H, W] where the second dimension is 3.
at::Tensor channelsFirst(const at::Tensor& images) {
  return images.size(3) == 3 ? images.permute({0, 3, 1, 2}) : images;
}

}  // namespace

Staging::Staging(const SourceOptions& options)
    : options_(options), origin_(std::make_shared<const BatchOrigin>(options.batches->origin())) {}

Batch staged(const HostBatch& host, const Normalization& normalization, const InputForm& form) {
  const auto there = at::TensorOptions().device(form.device->torch());
  const bool bytes = host.images.scalar_type() == at::kByte;
  at::Tensor images;
  Batch batch;
  {
    const Span copying(SpanKind::hostToDevice);
    batch.labels = host.labels.to(there, /*non_blocking=*/true);
    images = host.images.to(there, /*non_blocking=*/true);
  }
  if (!bytes) images = channelsFirst(images);
  const at::IntArrayRef shape = images.sizes();
  const std::array<int64_t, 4> input =
      bytes ? std::array{shape[0], shape[3], shape[1], shape[2]} : std::array{shape[0], shape[1], shape[2], shape[3]};
  batch.images =
      at::empty({input[0], input[1] + form.zeroChannels, input[2], input[3]}, there.dtype(form.type), form.format);
  if (bytes) {
    normalize(images, normalization, batch.images);
  } else {
    batch.images.narrow(1, 0, input[1]).copy_(images);
    batch.images.narrow(1, input[1], form.zeroChannels).zero_();
  }
  return batch;
}

Batch Staging::make(int64_t k) {
  options_.batches->make(k, options_.form.device->hostMemory(), host_);
  Batch batch = staged(host_, options_.batches->normalization(), options_.form);
  batch.index = k;
  batch.origin = origin_;
  return batch;
}

}  // namespace tandem
