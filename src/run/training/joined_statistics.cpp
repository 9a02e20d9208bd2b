#include "run/training/joined_statistics.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cstring>

#include "base/error.h"
#include "comm/long_texts.h"

namespace tandem {
namespace {

std::string bytesOf(const at::Tensor& values) {
  return {static_cast<const char*>(values.const_data_ptr()), values.nbytes()};
}

at::Tensor fromBytes(const std::string& bytes) {
  at::Tensor values = at::empty({static_cast<int64_t>(bytes.size() / sizeof(double))}, at::kDouble);
  std::memcpy(values.mutable_data_ptr(), bytes.data(), values.nbytes());
  return values;
}

}  // namespace

at::Tensor JoinedStatistics::flat(const StateTensors& statistics) {
  std::vector<at::Tensor> parts;
  for (const auto& [name, tensor] : statistics) parts.push_back(tensor.to(at::kCPU).reshape({-1}));
  return parts.empty() ? at::empty({0}) : at::cat(parts);
}

void JoinedStatistics::write(const at::Tensor& flat, const StateTensors& statistics) {
  int64_t begin = 0;
  for (const auto& [name, tensor] : statistics) {
    const int64_t count = tensor.numel();
    at::Tensor(tensor).copy_(flat.narrow(0, begin, count).view(tensor.sizes()));
    begin += count;
  }
}

// In the order of the replicas, so the result is the same in every run. Ranks send sums, and hear the mean.
at::Tensor JoinedStatistics::mean() const {
  at::Tensor sum = at::zeros_like(own_.front(), at::kDouble);
  for (const at::Tensor& own : own_) sum += own;
  if (world_ == nullptr) return sum / static_cast<double>(own_.size());
  const auto sums = longTextsToFirst(*world_, bytesOf(sum));
  if (isFirst(world_)) {
    sum.zero_();
    for (const std::string& text : sums) sum += fromBytes(text);
    sum /= static_cast<double>(own_.size() * sums.size());
  }
  return fromBytes(world_->fromFirst(bytesOf(sum)));
}

void JoinedStatistics::join(ReplicaSet::Member& member) {
  const at::NoGradGuard noGradients;
  const auto index = static_cast<size_t>(member.index());
  live_[index] = member.executor().statistics();
  own_[index] = flat(live_[index]);
  member.barrier();
  if (index == 0) mean_ = mean().to(at::kFloat);
  member.barrier();
  write(mean_, live_[index]);
}

void JoinedStatistics::restore(ReplicaSet::Member& member) {
  const at::NoGradGuard noGradients;
  const auto index = static_cast<size_t>(member.index());
  write(own_[index], live_[index]);
}

}  // namespace tandem
