#include "run/training/training_course.h"

#include <algorithm>
#include <cmath>

#include "config/training_texts.h"

namespace tandem {
namespace {

constexpr double rounding = 1e-9;  // relative: an epoch of 0.1 that was added up ten times is still one

}  // namespace

TrainingCourse::TrainingCourse(const Config::Training& training, int64_t images, int64_t batch)
    : images_(images),
      batch_(batch),
      epochs_(training.epochs),
      evaluateEvery_(training.validateEvery),
      saveEvery_(training.checkpoint.empty() ? 0 : training.saveEvery),
      steps_(stepsAt(training.epochs)) {
  for (const SizeFrom& size : trainSizesOf(training)) {
    sizes_.emplace_back(size.epochs == 0 ? 0 : stepsAt(size.epochs), size.pixels);
  }
}

int64_t TrainingCourse::stepsAt(double epochs) const {
  const double steps = epochs * stepsPerEpoch();
  return std::max<int64_t>(1, static_cast<int64_t>(std::ceil(steps * (1 - rounding))));
}

double TrainingCourse::epochsAt(int64_t step) const {
  return std::min(epochs_, static_cast<double>(step) / stepsPerEpoch());
}

// Passes made so far may be a little above a multiple, as the update that ends an epoch begins the next one.
int64_t TrainingCourse::nextDue(int64_t step, double every) const {
  if (every <= 0) return steps_;
  auto times = static_cast<int64_t>(static_cast<double>(step) / stepsPerEpoch() / every);
  int64_t due = 0;
  do {
    due = stepsAt(every * static_cast<double>(++times));
  } while (due <= step);
  return std::min(due, steps_);
}

int64_t TrainingCourse::nextPause(int64_t step) const {
  int64_t next = std::min(nextDue(step, evaluateEvery_), nextDue(step, saveEvery_));
  for (const auto& [from, pixels] : sizes_) {
    if (from > step) next = std::min(next, from);
  }
  return next;
}

int64_t TrainingCourse::trainSizeAt(int64_t step) const {
  int64_t size = 0;
  for (const auto& [from, pixels] : sizes_) {
    if (from <= step) size = pixels;
  }
  return size;
}

bool TrainingCourse::isDue(int64_t step, double every) const { return step > 0 && nextDue(step - 1, every) == step; }

}  // namespace tandem
