#include "data/transform/rand_augment.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace tandem {

std::vector<RandStep> drawRandAugment(const TransformValues& values, CounterRandom& random) {
  std::vector<RandStep> steps;
  for (int i = 0; i < static_cast<int>(values[0]); ++i) {
    const RandOperation& operation = randOperations()[random.below(randOperations().size())];
    if (random.fraction() >= values[3]) continue;
    const double magnitude = values[1] + values[2] * random.normal();
    double level = std::clamp(magnitude, 0.0, mostMagnitude) / mostMagnitude;
    if (operation.bothWays && random.fraction() >= 0.5) level = -level;
    steps.push_back({&operation, operation.valueOf(level)});
  }
  return steps;
}

at::Tensor randAugmented(const at::Tensor& image, std::span<const RandStep> steps) {
  at::Tensor changed = at::empty_like(image, at::TensorOptions(), at::MemoryFormat::ChannelsLast).copy_(image);
  const ByteImage bytes{
      changed.size(2), changed.size(3), {changed.mutable_data_ptr<uint8_t>(), static_cast<size_t>(changed.numel())}};
  for (const RandStep& step : steps) step.operation->apply(bytes, step.value);
  return changed;
}

}  // namespace tandem
