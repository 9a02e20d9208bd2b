#include "measure/metrics/evaluation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace tandem {
namespace {

constexpr int64_t mostConfused = 1000;  // classes of a confusion matrix that is kept

constexpr EvaluationMetric rows[] = {
    {"accuracy", "share of images whose class has the highest output; with sigmoid: of flags told rightly",
     [](const EvaluationRecord& evaluation) { return evaluation.accuracy; }, true, false},
    {"top5", "share of images whose class is among the five highest outputs",
     [](const EvaluationRecord& evaluation) { return evaluation.top5; }, true, false},
    {"auc", "area under the ROC curve, mean over the classes, with sigmoid",
     [](const EvaluationRecord& evaluation) { return evaluation.auc; }, true, true},
    {"loss", "mean loss over the images", [](const EvaluationRecord& evaluation) { return evaluation.loss; }, false,
     false},
};

double shareWithin(std::span<const int32_t> places, int32_t most) {
  const auto right = std::ranges::count_if(places, [&](int32_t place) { return place < most; });
  return static_cast<double>(right) / static_cast<double>(places.size());
}

void judgeClasses(const EvaluatedImages& images, bool withConfusion, EvaluationRecord& record) {
  int64_t right = 0;
  for (size_t i = 0; i < images.labels.size(); ++i) right += images.labels[i] == images.predicted[i] ? 1 : 0;
  record.accuracy = static_cast<double>(right) / static_cast<double>(images.labels.size());
  if (images.classes > 5) record.top5 = shareWithin(images.place, 5);
  if (!withConfusion || images.classes > mostConfused) return;
  record.confusion.assign(static_cast<size_t>(images.classes * images.classes), 0);
  for (size_t i = 0; i < images.labels.size(); ++i) {
    ++record.confusion[static_cast<size_t>(images.labels[i] * images.classes + images.predicted[i])];
  }
}

void judgeFlags(const EvaluatedImages& images, EvaluationRecord& record) {
  const auto count = static_cast<size_t>(images.images()), classes = static_cast<size_t>(images.classes);
  std::vector<float> scores(count);
  std::vector<uint8_t> flags(count);
  int64_t right = 0, counted = 0;
  double sum = 0;
  for (size_t k = 0; k < classes; ++k) {
    for (size_t i = 0; i < count; ++i) {
      scores[i] = images.outputs[i * classes + k], flags[i] = images.flags[i * classes + k];
      right += (scores[i] > 0) == (flags[i] != 0) ? 1 : 0;
    }
    record.classAuc.push_back(areaUnderCurve(scores, flags));
    if (record.classAuc.back() == EvaluationRecord::none) continue;
    sum += record.classAuc.back(), ++counted;
  }
  record.accuracy = static_cast<double>(right) / static_cast<double>(count * classes);
  if (counted > 0) record.auc = sum / static_cast<double>(counted);
}

}  // namespace

// Ranks of equal scores are their mean. All sums are of whole numbers and halves, so the result is exact but for one
// division.
double areaUnderCurve(std::span<const float> scores, std::span<const uint8_t> flags) {
  check(scores.size() == flags.size(), "as many flags as scores");
  std::vector<uint32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [&](uint32_t a, uint32_t b) { return scores[a] < scores[b]; });
  double wins = 0, below = 0;  // pairs that are in order, and unflagged images with lower scores
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    double with = 0, without = 0;
    for (end = begin; end < order.size() && scores[order[end]] == scores[order[begin]]; ++end) {
      (flags[order[end]] != 0 ? with : without) += 1;
    }
    wins += with * (below + without / 2);
    below += without;
  }
  const double flagged = static_cast<double>(scores.size()) - below;
  if (flagged == 0 || below == 0) return EvaluationRecord::none;
  return wins / (flagged * below);
}

EvaluationRecord evaluated(const EvaluatedImages& images, bool withConfusion) {
  EvaluationRecord record;
  record.images = images.images();
  if (record.images == 0) return record;
  const double sum = std::accumulate(images.losses.begin(), images.losses.end(), 0.0);
  record.loss = sum / static_cast<double>(record.images);
  if (images.hasFlags()) {
    judgeFlags(images, record);
  } else {
    judgeClasses(images, withConfusion, record);
  }
  return record;
}

std::span<const EvaluationMetric> evaluationMetrics() { return rows; }

bool isBetter(const EvaluationMetric& metric, double value, double other) {
  if (!std::isfinite(value) || value == EvaluationRecord::none) return false;
  if (!std::isfinite(other) || other == EvaluationRecord::none) return true;
  return metric.higherIsBetter ? value > other : value < other;
}

}  // namespace tandem
