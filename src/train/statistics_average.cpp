#include "train/statistics_average.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <utility>

namespace tandem {

StatisticsAverage::StatisticsAverage(StateTensors statistics, const AverageStep& step)
    : statistics_(std::move(statistics)), step_(step) {
  for (const auto& [name, tensor] : statistics_) {
    live_.push_back(tensor);
    average_.push_back(tensor.detach().clone());
  }
}

void StatisticsAverage::add() {
  const at::NoGradGuard noGradients;
  for (size_t i = 0; i < live_.size(); ++i) step_.add(average_[i], live_[i]);
}

void StatisticsAverage::swap() {
  const at::NoGradGuard noGradients;
  for (size_t i = 0; i < live_.size(); ++i) {
    const at::Tensor kept = live_[i].clone();
    live_[i].copy_(average_[i]);
    average_[i].copy_(kept);
  }
}

StateTensors StatisticsAverage::tensors() const {
  StateTensors named;
  for (size_t i = 0; i < average_.size(); ++i) named.emplace_back(statistics_[i].first, average_[i]);
  return named;
}

}  // namespace tandem
