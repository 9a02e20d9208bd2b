#include "report/tables/training_charts.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/text.h"
#include "measure/metrics/evaluation.h"
#include "measure/metrics/training_course.h"

namespace tandem {
namespace {

constexpr size_t mostPoints = 100;  // of a curve of steps

/// What the curves are drawn over.
struct Axis {
  std::string_view name, title;
  double (*ofStep)(const RunRecord& run, const std::vector<CoursePart>& parts, int64_t step);
  double (*ofEvaluation)(const EvaluationRecord&);
};

double epochOfStep(const RunRecord& run, const std::vector<CoursePart>&, int64_t step) {
  return static_cast<double>(step) * static_cast<double>(run.globalBatch) / static_cast<double>(run.training->images);
}

double secondsOfStep(const RunRecord&, const std::vector<CoursePart>& parts, int64_t step) {
  return seconds(endOfStep(parts, step));
}

constexpr std::array axes{
    Axis{"over epochs", "epoch", epochOfStep, [](const EvaluationRecord& evaluation) { return evaluation.epoch; }},
    Axis{"over time", "s of training", secondsOfStep,
         [](const EvaluationRecord& evaluation) { return seconds(evaluation.at); }},
};

/// The name of a training before what a curve shows of it; empty if it is the only one.
std::string before(const NamedTraining& training, size_t trainings) {
  return trainings > 1 ? training.name + ", " : "";
}

/// A metric in the evaluations of the split by which the training is judged.
ChartSeries metricSeries(const NamedTraining& training, const EvaluationMetric& metric, const Axis& axis) {
  const TrainingRecord& course = *training.run->training;
  ChartSeries series;
  for (const EvaluationRecord* evaluation : evaluationsOf(course, judgedSplit(course))) {
    const double value = metric.of(*evaluation);
    if (value == EvaluationRecord::none) continue;
    series.at.push_back(axis.ofEvaluation(*evaluation));
    series.values.push_back(value);
  }
  return series;
}

/// Means of the losses of as many steps as give at most mostPoints of them. Behind the last loss that the record has,
/// the means of the parts.
ChartSeries lossSeries(const NamedTraining& training, const Axis& axis) {
  const RunRecord& run = *training.run;
  const auto parts = partsOf(run);
  ChartSeries series;
  if (parts.empty()) return series;
  const size_t each = (run.losses.size() + mostPoints - 1) / mostPoints;
  for (size_t first = 0; first < run.losses.size(); first += each) {
    const size_t end = std::min(first + each, run.losses.size());
    double sum = 0;
    for (size_t i = first; i < end; ++i) sum += run.losses[i];
    series.at.push_back(axis.ofStep(run, parts, parts.front().firstStep + static_cast<int64_t>(end)));
    series.values.push_back(sum / static_cast<double>(end - first));
  }
  const int64_t known = parts.front().firstStep + static_cast<int64_t>(run.losses.size());
  for (const CoursePart& part : parts) {
    if (part.firstStep < known || part.step == part.firstStep) continue;
    series.at.push_back(axis.ofStep(run, parts, part.step));
    series.values.push_back(part.loss);
  }
  return series;
}

Chart curves(std::string title, const Axis& axis, std::string y) {
  return {.kind = ChartKind::curves,
          .title = std::move(title),
          .x = std::string(axis.title),
          .y = std::move(y),
          .fromZero = false};
}

/// The metric in the evaluations. Each training has the series of its index, so that it has one colour in all charts;
/// without values if it has no such metric. Beside what is better the lower it is, the loss, stands that of the steps.
Chart metricChart(const std::vector<NamedTraining>& trainings, const EvaluationMetric& metric, const Axis& axis) {
  Chart chart = curves(concat(metric.name, ' ', axis.name), axis, std::string(metric.name));
  chart.fromZero = !metric.higherIsBetter;
  for (const NamedTraining& training : trainings) {
    ChartSeries& series = chart.series.emplace_back(metricSeries(training, metric, axis));
    series.name = before(training, trainings.size()) + std::string(judgedSplit(*training.run->training));
  }
  if (metric.higherIsBetter) return chart;
  for (size_t i = 0; i < trainings.size(); ++i) {
    ChartSeries& series = chart.series.emplace_back(lossSeries(trainings[i], axis));
    series.name = before(trainings[i], trainings.size()) + "training";
    series.like = static_cast<int>(i);
  }
  return chart;
}

/// The learning rate at the end of each part.
Chart rateChart(const std::vector<NamedTraining>& trainings) {
  Chart chart = curves("learning rate over epochs", axes[0], "learning rate");
  chart.fromZero = true;
  for (const NamedTraining& training : trainings) {
    ChartSeries series{.name = before(training, trainings.size()) + "learning rate", .values = {}};
    for (const EpochRecord& part : training.run->training->course) {
      series.at.push_back(part.epoch);
      series.values.push_back(part.rate);
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

}  // namespace

std::vector<Chart> trainingCharts(const std::vector<NamedTraining>& trainings) {
  std::vector<Chart> charts;
  const auto add = [&](Chart chart) {
    const auto has = [](const ChartSeries& series) { return !series.values.empty(); };
    if (std::ranges::any_of(chart.series, has)) charts.push_back(std::move(chart));
  };
  for (const Axis& axis : axes) {
    for (const bool higherIsBetter : {false, true}) {  // the loss first
      for (const EvaluationMetric& metric : evaluationMetrics()) {
        if (metric.higherIsBetter == higherIsBetter) add(metricChart(trainings, metric, axis));
      }
    }
  }
  add(rateChart(trainings));
  return charts;
}

Chart phasesChart(const NamedTraining& training) {
  const RunRecord& run = *training.run;
  const double gap = std::numeric_limits<double>::quiet_NaN();
  Chart chart{.kind = ChartKind::time, .title = training.name, .x = "s of training", .y = "images/s"};
  ChartSeries rate{.name = "images/s", .values = {}};
  const auto parts = partsOf(run);
  const auto add = [&](double at, double value) { chart.at.push_back(at), rate.values.push_back(value); };
  const auto band = [&](const std::string& name, Nanos from, Nanos to) {
    if (to > from) chart.bands.push_back({name, seconds(from), seconds(to)});
  };
  if (!parts.empty()) band("before the resume", Nanos{}, parts.front().begin);
  for (const CoursePart& part : parts) {
    const double images = static_cast<double>((part.step - part.firstStep) * run.globalBatch);
    const double perSecond = part.time.training > Nanos{} ? images / seconds(part.time.training) : gap;
    add(seconds(part.begin), perSecond);
    add(seconds(part.trained()), perSecond);
    add(seconds(part.end()), gap);
    band("training", part.begin, part.trained());
    for (const EvaluationRecord& evaluation : run.training->evaluations) {
      if (evaluation.step == part.step && evaluation.at > part.begin)
        band(evaluation.split, evaluation.at - evaluation.wall, evaluation.at);
    }
    band("saving", part.evaluated(), part.saved());
  }
  chart.series.push_back(std::move(rate));
  return chart;
}

}  // namespace tandem
