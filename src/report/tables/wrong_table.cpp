#include "report/tables/wrong_table.h"

#include <algorithm>

#include "base/text.h"
#include "report/tables/class_tables.h"
#include "report/tables/point_label.h"
#include "report/tables/training_tables.h"

namespace tandem {
namespace {

/// The class, or where an image has no such flag, that it does not have `other`.
std::string partText(std::span<const std::string> classes, int32_t index, int32_t other) {
  if (index != WrongPrediction::none) return classText(classes, static_cast<size_t>(index));
  return "no " + classText(classes, static_cast<size_t>(other));
}

std::string labelText(std::span<const std::string> classes, const WrongPrediction& wrong) {
  return partText(classes, wrong.label, wrong.predicted);
}

std::string predictedText(std::span<const std::string> classes, const WrongPrediction& wrong) {
  return partText(classes, wrong.predicted, wrong.label);
}

std::string percentText(double score) { return fixed(100 * score, 2); }

ResultTable tableOf(std::span<const std::string> classes, const EvaluationRecord& evaluation) {
  ResultTable table{
      {{"class", "", false}, {"taken for", "", false}, {"probability", "%", true}, {"image", "", false}}, {}, {}};
  table.labels = 2;
  for (const WrongPrediction& wrong : evaluation.wrong) {
    table.rows.push_back(
        {{labelText(classes, wrong), predictedText(classes, wrong), percentText(wrong.score), oneLine(wrong.image)},
         ""});
    if (!wrong.png.empty()) table.pictures.push_back({wrongText(classes, wrong), wrong.png});
  }
  if (table.pictures.empty()) table.notes.emplace_back("their pictures are on the page that a training writes itself");
  return table;
}

}  // namespace

std::string wrongText(std::span<const std::string> classes, const WrongPrediction& wrong) {
  return concat(labelText(classes, wrong), " taken for ", predictedText(classes, wrong), ", ", percentText(wrong.score),
                " %");
}

std::vector<ResultTable> wrongTables(const ReportRuns& runs) {
  std::vector<ResultTable> tables;
  const auto trainings = trainingsOf(runs);
  for (const NamedTraining& training : trainings) {
    const TrainingRecord& course = *training.run->training;
    for (const EvaluationRecord& evaluation : course.evaluations) {
      if (evaluation.wrong.empty()) continue;
      tables.push_back(tableOf(course.classes, evaluation));
      tables.back().title =
          concat(oneLine(evaluation.split), trainings.size() > 1 ? ", training " + training.name : "");
    }
  }
  return tables;
}

}  // namespace tandem
