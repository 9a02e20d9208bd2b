#include "run/training/training_losses.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/number.h"
#include "base/text.h"

namespace tandem {

TrainingLosses::TrainingLosses(World* world, int64_t first, std::vector<double> weights, size_t replicas)
    : world_(world), first_(first), weights_(std::move(weights)), taken_(replicas) {}

bool TrainingLosses::take(ReplicaSet::Member& member) {
  const std::vector<double> losses = member.losses();
  const auto index = static_cast<size_t>(member.index());
  const double weight = weights_.empty() ? 1 : weights_[index];
  bool finite = true;
  const MutexLock lock(mutex_);
  for (const double loss : losses) {
    const auto at = static_cast<size_t>(taken_[index]++);
    if (losses_.size() <= at) losses_.resize(at + 1);
    losses_[at] += weight * loss / static_cast<double>(taken_.size());
    if (std::isfinite(loss)) continue;
    const int64_t step = first_ + static_cast<int64_t>(at);
    if (finite && (bad_ < 0 || step < bad_)) bad_ = step;
    finite = false;
  }
  return finite;
}

// Each rank says the sum of its losses.
double TrainingLosses::mean(int64_t begin, int64_t end) const {
  double sum = 0;
  {
    const MutexLock lock(mutex_);
    for (int64_t i = begin; i < end; ++i) sum += losses_[static_cast<size_t>(i - first_)];
  }
  const double steps = static_cast<double>(std::max<int64_t>(1, end - begin));
  if (world_ == nullptr) return sum / steps;
  const auto sums = world_->exchange(shortest(sum));
  double all = 0;
  for (const std::string& text : sums) all += numberIn<double>(text).value();
  return all / (steps * static_cast<double>(sums.size()));
}

int64_t TrainingLosses::bad() const {
  const MutexLock lock(mutex_);
  return bad_;
}

void TrainingLosses::forgetBad() {
  const MutexLock lock(mutex_);
  bad_ = -1;
}

void TrainingLosses::agreeOnBad() {
  if (world_ == nullptr) return;
  int64_t first = -1;
  for (const std::string& text : world_->exchange(concat(bad()))) {
    const auto said = numberIn<int64_t>(text).value();
    if (said >= 0 && (first < 0 || said < first)) first = said;
  }
  const MutexLock lock(mutex_);
  bad_ = first;
}

std::vector<double> TrainingLosses::all() const {
  const MutexLock lock(mutex_);
  return losses_;
}

}  // namespace tandem
