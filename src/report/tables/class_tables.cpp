#include "report/tables/class_tables.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "measure/metrics/training_course.h"
#include "report/tables/point_label.h"
#include "report/tables/training_tables.h"

namespace tandem {
namespace {

constexpr size_t mostPairs = 5;
constexpr size_t mostDrawn = 100;  // classes of a picture

/// Rows and columns of a confusion matrix.
class Confusion {
 public:
  explicit Confusion(const std::vector<int64_t>& images)
      : images_(images), classes_(static_cast<size_t>(std::lround(std::sqrt(static_cast<double>(images.size()))))) {
    check(classes_ > 0 && classes_ * classes_ == images.size(), "a confusion matrix is square");
  }

  size_t classes() const { return classes_; }
  int64_t at(size_t of, size_t taken) const { return images_[of * classes_ + taken]; }
  int64_t imagesOf(size_t of) const {
    int64_t sum = 0;
    for (size_t taken = 0; taken < classes_; ++taken) sum += at(of, taken);
    return sum;
  }

 private:
  const std::vector<int64_t>& images_;
  const size_t classes_;
};

struct Pair {
  size_t first, second;
  int64_t images;
};

/// The pairs with most images, of equal ones the first.
std::vector<Pair> confusedPairs(const Confusion& confusion) {
  std::vector<Pair> pairs;
  for (size_t first = 0; first < confusion.classes(); ++first) {
    for (size_t second = first + 1; second < confusion.classes(); ++second) {
      const int64_t images = confusion.at(first, second) + confusion.at(second, first);
      if (images > 0) pairs.push_back({first, second, images});
    }
  }
  std::ranges::stable_sort(pairs, std::greater(), &Pair::images);
  pairs.resize(std::min(pairs.size(), mostPairs));
  return pairs;
}

std::string percentText(int64_t part, int64_t of) {
  return of == 0 ? "" : fixed(100 * static_cast<double>(part) / static_cast<double>(of), 1);
}

const EvaluationRecord* lastWith(const TrainingRecord& training, const std::string& split,
                                 bool (*has)(const EvaluationRecord&)) {
  const EvaluationRecord* found = nullptr;
  for (const EvaluationRecord& each : training.evaluations) {
    if (each.split == split && has(each)) found = &each;
  }
  return found;
}

bool hasAuc(const EvaluationRecord& evaluation) { return !evaluation.classAuc.empty(); }
bool hasConfusion(const EvaluationRecord& evaluation) { return !evaluation.confusion.empty(); }

std::vector<std::string> splitsOf(const TrainingRecord& training) {
  std::vector<std::string> splits;
  for (const EvaluationRecord& each : training.evaluations) {
    if (std::ranges::find(splits, each.split) == splits.end()) splits.push_back(each.split);
  }
  return splits;
}

/// The last evaluation of each split, and the best one if it is another.
std::vector<HeadedEvaluation> headedAuc(const TrainingRecord& training) {
  std::vector<HeadedEvaluation> headed;
  for (const std::string& split : splitsOf(training)) {
    const EvaluationRecord* const last = lastWith(training, split, hasAuc);
    if (last == nullptr) continue;
    const bool judges = split == judgedSplit(training);
    headed.push_back({concat(oneLine(split), judges ? ", last" : ""), last});
    if (!judges) continue;
    const auto best = std::ranges::find_if(training.evaluations, [&](const EvaluationRecord& each) {
      return each.split == split && each.step == training.bestStep && hasAuc(each);
    });
    if (best != training.evaluations.end() && &*best != last)
      headed.push_back({concat(oneLine(split), ", best"), &*best});
  }
  return headed;
}

/// The evaluations with a confusion matrix, one per split.
std::vector<const EvaluationRecord*> confusionsOf(const TrainingRecord& training) {
  std::vector<const EvaluationRecord*> found;
  for (const std::string& split : splitsOf(training)) {
    if (const EvaluationRecord* const last = lastWith(training, split, hasConfusion)) found.push_back(last);
  }
  return found;
}

std::string ofTraining(const NamedTraining& training, size_t trainings) {
  return trainings > 1 ? ", training " + training.name : "";
}

}  // namespace

std::string classText(std::span<const std::string> classes, size_t index) {
  return index < classes.size() ? concat(index, ' ', oneLine(classes[index])) : concat(index);
}

ResultTable aucTable(std::span<const std::string> classes, std::span<const HeadedEvaluation> evaluations) {
  ResultTable table{{{"class", "", false}}, {}, {}};
  Chart chart{.kind = ChartKind::bars, .title = {}, .x = "", .y = "AUC"};
  size_t count = 0;
  for (const HeadedEvaluation& each : evaluations) {
    table.columns.push_back({each.heading, "", true});
    chart.series.push_back({.name = each.heading, .values = {}});
    count = std::max(count, each.evaluation->classAuc.size());
  }
  for (size_t k = 0; k < count; ++k) {
    TableRow& row = table.rows.emplace_back(TableRow{{classText(classes, k)}, ""});
    chart.labels.push_back(row.cells.front());
    for (size_t i = 0; i < evaluations.size(); ++i) {
      const std::vector<double>& areas = evaluations[i].evaluation->classAuc;
      const bool known = k < areas.size() && areas[k] != EvaluationRecord::none && std::isfinite(areas[k]);
      row.cells.push_back(known ? fixed(areas[k], 4) : "");
      chart.series[i].values.push_back(known ? areas[k] : std::numeric_limits<double>::quiet_NaN());
    }
  }
  if (count > 0 && count <= mostDrawn) table.charts.push_back(std::move(chart));
  return table;
}

ResultTable confusedTable(std::span<const std::string> classes, const EvaluationRecord& evaluation) {
  const Confusion confusion(evaluation.confusion);
  ResultTable table{{{"class", "", false},
                     {"and class", "", false},
                     {"confused", "images", true},
                     {"first for second", "images", true},
                     {"second for first", "images", true},
                     {"of both classes", "%", true}},
                    {},
                    {},
                    "",
                    2};
  for (const auto& [first, second, images] : confusedPairs(confusion)) {
    table.rows.push_back({{classText(classes, first), classText(classes, second), concat(images),
                           concat(confusion.at(first, second)), concat(confusion.at(second, first)),
                           percentText(images, confusion.imagesOf(first) + confusion.imagesOf(second))},
                          ""});
  }
  return table;
}

ResultTable confusionTable(std::span<const std::string> classes, const EvaluationRecord& evaluation) {
  const Confusion confusion(evaluation.confusion);
  ResultTable table{{{"class", "", false}, {"right", "%", true}}, {}, {}};
  Chart chart{.kind = ChartKind::matrix, .title = {}, .x = "taken for", .y = "class"};
  for (size_t k = 0; k < confusion.classes(); ++k) {
    chart.labels.push_back(classText(classes, k));
    table.columns.push_back({chart.labels.back(), "", true});
  }
  for (size_t of = 0; of < confusion.classes(); ++of) {
    ChartSeries& series = chart.series.emplace_back(ChartSeries{.name = chart.labels[of], .values = {}});
    TableRow& row = table.rows.emplace_back(
        TableRow{{chart.labels[of], percentText(confusion.at(of, of), confusion.imagesOf(of))}, ""});
    for (size_t taken = 0; taken < confusion.classes(); ++taken) {
      series.values.push_back(static_cast<double>(confusion.at(of, taken)));
      row.cells.push_back(concat(confusion.at(of, taken)));
    }
  }
  table.charts.push_back(std::move(chart));
  return table;
}

std::vector<ResultTable> classTables(const ReportRuns& runs) {
  std::vector<ResultTable> tables;
  const auto trainings = trainingsOf(runs);
  for (const NamedTraining& training : trainings) {
    const TrainingRecord& course = *training.run->training;
    if (const auto headed = headedAuc(course); !headed.empty()) {
      tables.push_back(aucTable(course.classes, headed));
      tables.back().title = "AUC by class" + ofTraining(training, trainings.size());
    }
    for (const EvaluationRecord* evaluation : confusionsOf(course)) {
      ResultTable table = confusedTable(course.classes, *evaluation);
      if (table.rows.empty()) continue;
      table.title =
          concat("Most confused classes, ", oneLine(evaluation->split), ofTraining(training, trainings.size()));
      tables.push_back(std::move(table));
    }
  }
  return tables;
}

std::vector<ResultTable> confusionTables(const ReportRuns& runs) {
  std::vector<ResultTable> tables;
  const auto trainings = trainingsOf(runs);
  for (const NamedTraining& training : trainings) {
    for (const EvaluationRecord* evaluation : confusionsOf(*training.run->training)) {
      if (evaluation->confusion.size() > mostDrawn * mostDrawn) continue;
      tables.push_back(confusionTable(training.run->training->classes, *evaluation));
      tables.back().title = concat(oneLine(evaluation->split), ofTraining(training, trainings.size()));
    }
  }
  return tables;
}

}  // namespace tandem
