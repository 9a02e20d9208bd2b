#include "run/viewed_outputs.h"

#include <ATen/ATen.h>

namespace tandem {

at::Tensor viewedOutputs(Executor& executor, const Batch& batch, const ViewsEntry& views) {
  const std::vector<ImageView> all = views.of(batch.images);
  if (all.size() == 1) return executor.forward(batch)[0];
  at::Tensor sum;
  for (const auto& [images, weight] : all) {
    Batch viewed = batch;
    viewed.images = images;
    const at::Tensor weighted = executor.forward(viewed)[0].to(at::kFloat) * weight;
    sum = sum.defined() ? sum + weighted : weighted;
  }
  return sum;
}

}  // namespace tandem
