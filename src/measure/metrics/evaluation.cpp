#include "measure/metrics/evaluation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "base/text.h"

namespace tandem {
namespace {

constexpr int64_t mostConfused = 1000;   // classes of a confusion matrix that is kept
constexpr size_t fewestByDigits = 2000;  // scores; fewer are faster by comparisons
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

constexpr int64_t topClasses = 5;

constexpr EvaluationMetric rows[] = {
    {"accuracy", "share of images whose class has the highest output; with sigmoid: of flags told rightly",
     [](const EvaluationRecord& evaluation) { return evaluation.accuracy; }, true, false,
     [](bool, int64_t) { return true; }},
    {"top5", "share of images whose class is among the five highest outputs",
     [](const EvaluationRecord& evaluation) { return evaluation.top5; }, true, false,
     [](bool flags, int64_t classes) { return !flags && classes > topClasses; }},
    {"auc", "area under the ROC curve, mean over the classes, with sigmoid",
     [](const EvaluationRecord& evaluation) { return evaluation.auc; }, true, true,
     [](bool flags, int64_t) { return flags; }},
    {"loss", "mean loss over the images", [](const EvaluationRecord& evaluation) { return evaluation.loss; }, false,
     false, [](bool, int64_t) { return true; }},
};

double shareWithin(std::span<const int32_t> places, int32_t most) {
  const auto right = std::ranges::count_if(places, [&](int32_t place) { return place < most; });
  return static_cast<double>(right) / static_cast<double>(places.size());
}

void judgeClasses(const EvaluatedImages& images, bool withConfusion, EvaluationRecord& record) {
  int64_t right = 0;
  for (size_t i = 0; i < images.labels.size(); ++i) right += images.labels[i] == images.predicted[i] ? 1 : 0;
  record.accuracy = static_cast<double>(right) / static_cast<double>(images.labels.size());
  if (images.classes > topClasses) record.top5 = shareWithin(images.place, topClasses);
  if (!withConfusion || images.classes > mostConfused) return;
  record.confusion.assign(static_cast<size_t>(images.classes * images.classes), 0);
  for (size_t i = 0; i < images.labels.size(); ++i) {
    ++record.confusion[static_cast<size_t>(images.labels[i] * images.classes + images.predicted[i])];
  }
}

/// A score with its flag in the last bit, before it the score as a whole number in the same order. 0 and -0 are equal.
uint64_t itemOf(float score, bool flag) {
  const auto bits = std::bit_cast<uint32_t>(score + 0.0F);
  const uint32_t ordered = bits ^ (bits >> 31 != 0 ? 0xffffffffU : 0x80000000U);
  return uint64_t{ordered} << 1 | (flag ? 1 : 0);
}

/// Sorts items by their scores, many of them by digits of 11 bits. `spare` is memory.
void sortByScore(std::vector<uint64_t>& items, std::vector<uint64_t>& spare) {
  constexpr unsigned digit = 11, passes = 3;
  if (items.size() < fewestByDigits) return std::sort(items.begin(), items.end());
  spare.resize(items.size());
  for (unsigned pass = 0; pass < passes; ++pass) {
    std::array<size_t, 1U << digit> begins{};
    const auto valueOf = [&](uint64_t item) { return item >> (1 + pass * digit) & (begins.size() - 1); };
    for (const uint64_t item : items) ++begins[valueOf(item)];
    std::exclusive_scan(begins.begin(), begins.end(), begins.begin(), size_t{0});
    for (const uint64_t item : items) spare[begins[valueOf(item)]++] = item;
    items.swap(spare);
  }
}

/// areaUnderCurve() of items. Ranks of equal scores are their mean. All sums are of whole numbers and halves, so the
/// result is exact but for one division.
double areaOf(std::vector<uint64_t>& items, std::vector<uint64_t>& spare) {
  sortByScore(items, spare);
  double wins = 0, below = 0;  // pairs that are in order, and unflagged images with lower scores
  for (size_t begin = 0, end = 0; begin < items.size(); begin = end) {
    double with = 0, without = 0;
    for (end = begin; end < items.size() && items[end] >> 1 == items[begin] >> 1; ++end) {
      ((items[end] & 1) != 0 ? with : without) += 1;
    }
    wins += with * (below + without / 2);
    below += without;
  }
  const double flagged = static_cast<double>(items.size()) - below;
  if (flagged == 0 || below == 0) return EvaluationRecord::none;
  return wins / (flagged * below);
}

/// The area of each class. Classes are read in blocks, because those of an image lie side by side.
std::vector<double> areasOf(const EvaluatedImages& images) {
  constexpr size_t block = 16;
  const auto count = static_cast<size_t>(images.images()), classes = static_cast<size_t>(images.classes);
  std::vector<double> areas(classes);
  std::array<std::vector<uint64_t>, block> items;
  std::vector<uint64_t> spare;
  for (size_t first = 0; first < classes; first += block) {
    const size_t inBlock = std::min(block, classes - first);
    std::array<bool, block> isNumber;
    isNumber.fill(true);
    for (size_t k = 0; k < inBlock; ++k) items[k].resize(count);
    for (size_t i = 0; i < count; ++i) {
      for (size_t k = 0; k < inBlock; ++k) {
        const size_t at = i * classes + first + k;
        items[k][i] = itemOf(images.outputs[at], images.flags[at] != 0);
        isNumber[k] = isNumber[k] && !std::isnan(images.outputs[at]);
      }
    }
    for (size_t k = 0; k < inBlock; ++k) areas[first + k] = isNumber[k] ? areaOf(items[k], spare) : notANumber;
  }
  return areas;
}

void judgeFlags(const EvaluatedImages& images, EvaluationRecord& record) {
  int64_t right = 0, counted = 0;
  for (size_t i = 0; i < images.outputs.size(); ++i) right += (images.outputs[i] > 0) == (images.flags[i] != 0) ? 1 : 0;
  record.accuracy = static_cast<double>(right) / static_cast<double>(images.outputs.size());
  record.classAuc = areasOf(images);
  double sum = 0;
  for (const double area : record.classAuc) {
    if (area != EvaluationRecord::none) sum += area, ++counted;
  }
  if (counted > 0) record.auc = sum / static_cast<double>(counted);
}

/// A wrong prediction while the surest ones are looked for.
struct Candidate {
  WrongPrediction wrong;
  double loss;
};

/// NaN comes last.
bool isSurer(const Candidate& one, const Candidate& other) {
  const auto rank = [](double value) { return std::isnan(value) ? -1.0 : value; };
  if (rank(one.wrong.score) != rank(other.wrong.score)) return rank(one.wrong.score) > rank(other.wrong.score);
  if (rank(one.loss) != rank(other.loss)) return rank(one.loss) > rank(other.loss);
  return one.wrong.index < other.wrong.index;
}

std::optional<WrongPrediction> wrongClass(const EvaluatedImages& images, size_t image) {
  if (images.labels[image] == images.predicted[image]) return std::nullopt;
  return WrongPrediction{.index = static_cast<int64_t>(image),
                         .label = images.labels[image],
                         .predicted = images.predicted[image],
                         .score = images.scores[image]};
}

/// The wrong flag with the output furthest from 0, of equal ones the first.
std::optional<WrongPrediction> wrongFlag(const EvaluatedImages& images, size_t image) {
  const auto classes = static_cast<size_t>(images.classes);
  std::optional<WrongPrediction> worst;
  double most = -1;
  for (size_t k = 0; k < classes; ++k) {
    const double output = images.outputs[image * classes + k];
    const bool has = images.flags[image * classes + k] != 0;
    if ((output > 0) == has || !(std::abs(output) > most)) continue;
    most = std::abs(output);
    const auto flag = static_cast<int32_t>(k);
    worst = {.index = static_cast<int64_t>(image),
             .label = has ? flag : WrongPrediction::none,
             .predicted = has ? WrongPrediction::none : flag,
             .score = 1 / (1 + std::exp(-most))};
  }
  return worst;
}

}  // namespace

double areaUnderCurve(std::span<const float> scores, std::span<const uint8_t> flags) {
  check(scores.size() == flags.size(), "as many flags as scores");
  if (std::ranges::any_of(scores, [](float score) { return std::isnan(score); })) return notANumber;
  std::vector<uint64_t> items(scores.size()), spare;
  for (size_t i = 0; i < scores.size(); ++i) items[i] = itemOf(scores[i], flags[i] != 0);
  return areaOf(items, spare);
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

// The heap's first is the least sure one that is kept.
std::vector<WrongPrediction> surestErrors(const EvaluatedImages& images, int64_t most) {
  const auto errorOf = images.hasFlags() ? wrongFlag : wrongClass;
  std::vector<Candidate> heap;
  for (size_t i = 0; most > 0 && i < images.losses.size(); ++i) {
    auto wrong = errorOf(images, i);
    if (!wrong) continue;
    Candidate found{std::move(*wrong), images.losses[i]};
    if (std::ssize(heap) == most) {
      if (!isSurer(found, heap.front())) continue;
      std::ranges::pop_heap(heap, isSurer);
      heap.pop_back();
    }
    heap.push_back(std::move(found));
    std::ranges::push_heap(heap, isSurer);
  }
  std::ranges::sort_heap(heap, isSurer);
  std::vector<WrongPrediction> errors;
  for (Candidate& each : heap) errors.push_back(std::move(each.wrong));
  return errors;
}

std::span<const EvaluationMetric> evaluationMetrics() { return rows; }

std::string figuresText(const EvaluationRecord& evaluation) {
  std::vector<std::string> figures;
  for (const EvaluationMetric& metric : evaluationMetrics()) {
    const double value = metric.of(evaluation);
    if (value != EvaluationRecord::none) figures.push_back(concat(metric.name, ' ', fixed(value, 4)));
  }
  return join(figures, ", ");
}

bool isBetter(const EvaluationMetric& metric, double value, double other) {
  if (!std::isfinite(value) || value == EvaluationRecord::none) return false;
  if (!std::isfinite(other) || other == EvaluationRecord::none) return true;
  return metric.higherIsBetter ? value > other : value < other;
}

}  // namespace tandem
