#include "report/tables/training_tables.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "measure/metrics/evaluation.h"
#include "measure/metrics/metric.h"
#include "measure/metrics/training_course.h"
#include "report/tables/point_label.h"
#include "report/tables/training_charts.h"

namespace tandem {
namespace {

constexpr size_t mostShown = 12;        // trainings
constexpr size_t lastEvaluations = 10;  // of each

/// A column of the table of trainings.
struct MetricColumn {
  std::string_view metric, heading;
  bool ofSomeRuns = false;  ///< left out where no training has a value
};

constexpr std::array metricColumns{
    MetricColumn{"images_per_s", "images/s"},        MetricColumn{"epoch_training_s", "epoch, steps"},
    MetricColumn{"epoch_whole_s", "epoch, whole"},   MetricColumn{"final_loss", "training loss"},
    MetricColumn{"eval_loss", "loss", true},         MetricColumn{"eval_loss_best", "best", true},
    MetricColumn{"eval_accuracy", "accuracy", true}, MetricColumn{"eval_accuracy_best", "best", true},
    MetricColumn{"eval_top5", "top5", true},         MetricColumn{"eval_top5_best", "best", true},
    MetricColumn{"eval_auc", "auc", true},           MetricColumn{"eval_auc_best", "best", true},
    MetricColumn{"to_target_s", "to target", true},  MetricColumn{"peak_memory_mib", "memory"},
};

std::vector<const RunRecord*> allTrainings(const ReportRuns& runs) {
  std::vector<const RunRecord*> found;
  for (const RunRecord& record : runs.all()) {
    if (record.outcome.kind == OutcomeKind::ok && record.training) found.push_back(&record);
  }
  return found;
}

std::vector<MetricColumn> columnsOf(const std::vector<NamedTraining>& trainings) {
  std::vector<MetricColumn> columns;
  for (const MetricColumn& column : metricColumns) {
    const auto known = [&](const NamedTraining& each) {
      return metric(column.metric).of(*each.run, nullptr).has_value();
    };
    if (!column.ofSomeRuns || std::ranges::any_of(trainings, known)) columns.push_back(column);
  }
  return columns;
}

/// "best by accuracy after update 1000, epoch 10.00; the figures are of the validation images".
std::string bestText(const TrainingRecord& training) {
  if (training.bestStep < 0) return "";
  const auto best = std::ranges::find(training.evaluations, training.bestStep, &EvaluationRecord::step);
  const std::string epoch = best == training.evaluations.end() ? "" : concat(", epoch ", fixed(best->epoch, 2));
  return concat("best by ", oneLine(training.bestMetric), " after update ", training.bestStep, epoch,
                "; figures are of the split ", oneLine(std::string(judgedSplit(training))));
}

/// The part of the course before the evaluation after update `step`; null where that is not known.
const EpochRecord* partBefore(const TrainingRecord& training, int64_t step) {
  const auto part = std::ranges::find(training.course, step, &EpochRecord::step);
  return part == training.course.end() ? nullptr : &*part;
}

/// Whether images of several sizes were trained on.
bool changesSize(const TrainingRecord& training) {
  return std::ranges::any_of(training.course, [&](const EpochRecord& part) {
    return part.imageSize > 0 && part.imageSize != training.course.back().imageSize;
  });
}

bool isBest(const TrainingRecord& training, const EvaluationRecord& evaluation) {
  return evaluation.step == training.bestStep && evaluation.split == judgedSplit(training);
}

std::string figureText(const EvaluationMetric& metric, const EvaluationRecord& evaluation) {
  const double value = metric.of(evaluation);
  return value == EvaluationRecord::none ? "" : fixed(value, 4);
}

/// The metrics that any of the evaluations has.
std::vector<const EvaluationMetric*> metricsOf(const TrainingRecord& training) {
  std::vector<const EvaluationMetric*> found;
  for (const EvaluationMetric& metric : evaluationMetrics()) {
    const auto has = [&](const EvaluationRecord& each) { return metric.of(each) != EvaluationRecord::none; };
    if (std::ranges::any_of(training.evaluations, has)) found.push_back(&metric);
  }
  return found;
}

ResultTable evaluationsTable(const TrainingRecord& training) {
  ResultTable table{
      {{"epoch", "", true}, {"update", "", true}, {"split", "", false}, {"training loss", "", true}}, {}, {}};
  table.labels = 3;
  const bool sized = changesSize(training);
  if (sized) table.columns.push_back({"image size", "pixels", true});
  const auto metrics = metricsOf(training);
  for (const EvaluationMetric* metric : metrics) table.columns.push_back({std::string(metric->name), "", true});
  table.columns.push_back({"took", "s", true});
  table.columns.push_back({"", "", false});
  const size_t all = training.evaluations.size(), firstShown = all - std::min(all, lastEvaluations);
  for (size_t i = 0; i < all; ++i) {
    const EvaluationRecord& evaluation = training.evaluations[i];
    if (i < firstShown && !isBest(training, evaluation)) continue;
    TableRow& row = table.rows.emplace_back();
    const EpochRecord* const part = partBefore(training, evaluation.step);
    row.cells = {fixed(evaluation.epoch, 2), concat(evaluation.step), oneLine(evaluation.split),
                 part == nullptr ? "" : fixed(part->loss, 4)};
    if (sized) row.cells.push_back(part == nullptr || part->imageSize == 0 ? "" : concat(part->imageSize));
    for (const EvaluationMetric* metric : metrics) row.cells.push_back(figureText(*metric, evaluation));
    row.cells.push_back(fixed(seconds(evaluation.wall), 1));
    row.cells.emplace_back(isBest(training, evaluation) ? "best" : "");
  }
  if (table.rows.size() < all) {
    table.notes.push_back(concat(table.rows.size(), " of ", all, " evaluations: the last ", lastEvaluations,
                                 table.rows.size() > lastEvaluations ? " and the best" : ""));
  }
  return table;
}

}  // namespace

std::vector<NamedTraining> trainingsOf(const ReportRuns& runs) {
  std::vector<NamedTraining> found;
  for (size_t row = 1; row <= runs.groups().size(); ++row) {
    const std::vector<const RunRecord*> shown = runs.groups()[row - 1].shown();
    for (const RunRecord* run : runs.groups()[row - 1].runs) {
      if (run->outcome.kind != OutcomeKind::ok || !run->training) continue;
      found.push_back({concat(runs.nameOf(row), shown.size() > 1 ? ", " + oneLine(run->time) : ""), run});
    }
  }
  if (found.size() > mostShown) found.erase(found.begin(), found.end() - mostShown);
  return found;
}

std::string endText(const TrainingRecord& training) {
  const std::string why = training.ended.empty() ? "all epochs" : oneLine(training.ended);
  return concat(why, training.interrupted ? ", can go on" : "");
}

std::vector<ResultTable> trainingTables(const ReportRuns& runs) {
  const auto trainings = trainingsOf(runs);
  if (trainings.empty()) return {};
  ResultTable table{{{"training", "", false}, {"epochs", "", true}, {"updates", "", true}}, {}, {}};
  const auto columns = columnsOf(trainings);
  for (const MetricColumn& column : columns) {
    const std::string_view unit = metric(column.metric).unit;
    table.columns.push_back({std::string(column.heading), unit == column.heading ? "" : std::string(unit), true});
  }
  table.columns.push_back({"ended", "", false});
  table.columns.push_back({"result", "", false, /*caveats=*/true});
  for (const auto& [name, run] : trainings) {
    const std::string caveats = briefCaveats(*run);
    TableRow& row = table.rows.emplace_back(TableRow{{name}, "", !caveats.empty()});
    row.cells.push_back(fixed(run->training->epochs, 2));
    row.cells.push_back(concat(run->training->steps));
    for (const MetricColumn& column : columns) row.cells.push_back(metricText(column.metric, *run, nullptr));
    row.cells.push_back(endText(*run->training));
    row.cells.push_back(caveats.empty() ? "ok" : caveats);
    const std::string best = bestText(*run->training);
    if (!best.empty()) table.notes.push_back(trainings.size() > 1 ? concat(name, ": ", best) : best);
  }
  if (const size_t all = allTrainings(runs).size(); all > trainings.size()) {
    table.notes.push_back(concat("the last ", trainings.size(), " of ", all, " trainings"));
  }
  table.charts = trainingCharts(trainings);
  return {std::move(table)};
}

std::vector<ResultTable> evaluationTables(const ReportRuns& runs) {
  std::vector<ResultTable> tables;
  const auto trainings = trainingsOf(runs);
  for (const auto& [name, run] : trainings) {
    if (run->training->evaluations.empty()) continue;
    ResultTable& table = tables.emplace_back(evaluationsTable(*run->training));
    if (trainings.size() > 1) table.title = "Evaluations of training " + name;
  }
  return tables;
}

std::vector<ResultTable> courseTables(const ReportRuns& runs) {
  ResultTable table{{{"training", "", false},
                     {"steps", "s", true},
                     {"evaluations", "s", true},
                     {"checkpoints", "s", true},
                     {"between", "s", true},
                     {"checkpoints", "%", true},
                     {"between", "%", true}},
                    {},
                    {}};
  for (const NamedTraining& training : trainingsOf(runs)) {
    const CourseTime time = timeOf(*training.run->training);
    if (time.whole() <= Nanos{}) continue;
    TableRow& row = table.rows.emplace_back(TableRow{{training.name}, ""});
    for (const Nanos part : {time.training, time.evaluating, time.saving, time.idle}) {
      row.cells.push_back(fixed(seconds(part), 2));
    }
    for (const char* share : {"saving_percent", "idle_percent"}) {
      row.cells.push_back(metricText(share, *training.run, nullptr));
    }
    table.charts.push_back(phasesChart(training));
  }
  if (table.rows.empty()) return {};
  return {std::move(table)};
}

}  // namespace tandem
