#include "kernels/optimizer/weight_average.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace tandem {

double WeightAverage::shareAt(int64_t update, int64_t total) const {
  const int64_t made = update + 1;
  if (made % every != 0) return 0;
  const double part = total > 0 ? std::min(1.0, static_cast<double>(made) / static_cast<double>(total)) : 1;
  return 1 - decay * std::pow(part, power);
}

AverageStep::AverageStep(const WeightAverage& rule, int64_t total, at::Device device, bool captured)
    : rule_(rule), total_(total), share_(rule.shareAt(0, total)) {
  const bool changes = rule.every > 1 || rule.power != 0;
  if (changes && captured) onDevice_ = at::zeros({}, at::device(device).dtype(at::kFloat));
}

void AverageStep::begin(int64_t update) {
  share_ = rule_.shareAt(update, total_);
  if (onDevice_.defined()) onDevice_.fill_(share_);
}

void AverageStep::add(at::Tensor& average, at::Tensor& values) const {
  if (onDevice_.defined()) {
    average.lerp_(values, onDevice_);
    if (rule_.leads) values.copy_(at::where(onDevice_ > 0, average, values));
  } else if (share_ > 0) {
    average.lerp_(values, share_);
    if (rule_.leads) values.copy_(average);
  }
}

}  // namespace tandem
