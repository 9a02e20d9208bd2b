#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "measure/metrics/evaluation.h"
#include "measure/metrics/metric.h"
#include "report/export/calendar_times.h"
#include "report/export/exporters.h"
#include "report/tables/result_table.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

/// Readers expect the source that writes a line in its metadata. The name of this file is enough for them.
class MllogLines {
 public:
  void point(double time, const char* key, Json value, const Json& more = Json::object(), int line = __builtin_LINE()) {
    add({"POINT_IN_TIME", time, key, line}, std::move(value), more);
  }
  void begin(double time, const char* key, const Json& more = Json::object(), int line = __builtin_LINE()) {
    add({"INTERVAL_START", time, key, line}, nullptr, more);
  }
  void end(double time, const char* key, const Json& more, int line = __builtin_LINE()) {
    add({"INTERVAL_END", time, key, line}, nullptr, more);
  }
  std::string take() { return std::move(text_); }

 private:
  struct Event {
    const char* type;
    double time;  // seconds
    const char* key;
    int line;
  };

  void add(const Event& event, Json value, const Json& more) {
    Json metadata{{"file", "mllog.cpp"}, {"lineno", event.line}};
    metadata.update(more);
    const Json line{{"namespace", ""},           {"time_ms", std::llround(1e3 * event.time)},
                    {"event_type", event.type},  {"key", event.key},
                    {"value", std::move(value)}, {"metadata", std::move(metadata)}};
    text_ += ":::MLLOG " + line.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
  }

  std::string text_;
};

Json numberOr(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

/// Of the split by which a training is judged; 0: nothing was evaluated.
int64_t evaluatedSamples(const TrainingRecord& training) {
  return training.evaluations.empty() ? 0 : training.evaluations.front().images;
}

void addConfiguration(const RunRecord& record, double at, MllogLines& lines) {
  const Config& config = record.config;
  lines.point(at, "submission_benchmark", config.network.model);
  lines.point(at, "submission_platform", record.environment.host);
  lines.point(at, "global_batch_size", record.globalBatch);
  lines.point(at, "gradient_accumulation_steps", config.step.accumulate);
  lines.point(at, "seed", config.step.seed);
  if (record.training) {
    lines.point(at, "submission_division", "open");
    lines.point(at, "cache_clear", false);
    lines.point(at, "train_samples", record.training->images);
    lines.point(at, "eval_samples", evaluatedSamples(*record.training));
  }
  if (config.step.forwardOnly) return;
  lines.point(at, "opt_name", config.step.optimizer);
  lines.point(at, "opt_base_learning_rate", config.step.learningRate);
  lines.point(at, "opt_weight_decay", config.step.weightDecay);
}

/// A number of epochs as MLPerf writes it: a whole one without a point.
Json epochNumber(double epochs) { return epochs == std::round(epochs) ? Json(std::llround(epochs)) : Json(epochs); }

/// Whether a training became what it was to become.
bool reachedItsEnd(const RunRecord& record) {
  const TrainingRecord& training = *record.training;
  return !training.interrupted && (record.config.training.stopAt.empty() || training.toTarget > Nanos{});
}

/// The metric of the best weights; without any accuracy.
const EvaluationMetric& judgingMetric(const TrainingRecord& training) {
  const auto found = std::ranges::find(evaluationMetrics(), training.bestMetric, &EvaluationMetric::name);
  return found == evaluationMetrics().end() ? evaluationMetrics().front() : *found;
}

/// Writes the parts and evaluations of a training, except those before a resume, in the order of time.
class TrainingLines {
 public:
  TrainingLines(const RunRecord& record, const RunTimes& times, MllogLines& lines)
      : record_(record), times_(times), lines_(lines), parts_(partsOf(record)) {}

  /// Returns when the last of them ended.
  double write() {
    last_ = times_.window;
    auto evaluation = record_.training->evaluations.begin();
    const auto end = record_.training->evaluations.end();
    while (evaluation != end && !parts_.empty() && evaluation->at <= parts_.front().begin) ++evaluation;
    for (const CoursePart& part : parts_) {
      lines_.begin(rising(part.begin), "epoch_start", at(part.epoch, part.firstStep));
      lines_.end(rising(part.trained()), "epoch_stop", at(part.epoch, part.step));
      for (; evaluation != end && evaluation->step <= part.step; ++evaluation) add(*evaluation);
    }
    return last_;
  }

 private:
  /// The calendar time of a moment; not before the line before it.
  double rising(Nanos moment) { return last_ = std::max(last_, calendarTime(times_, parts_, moment)); }

  Json at(double epoch, int64_t step) const {
    return {{"epoch_num", epochNumber(epoch)}, {"samples_count", step * record_.globalBatch}};
  }

  void add(const EvaluationRecord& evaluation) {
    const EvaluationMetric& metric = judgingMetric(*record_.training);
    Json more = at(evaluation.epoch, evaluation.step);
    more["split"] = evaluation.split;
    lines_.begin(rising(evaluation.at - evaluation.wall), "eval_start", more);
    lines_.end(rising(evaluation.at), "eval_stop", more);
    more["metric"] = metric.name;
    const double value = metric.of(evaluation);
    lines_.point(last_, "eval_accuracy", value == EvaluationRecord::none ? Json() : Json(value), more);
  }

  const RunRecord& record_;
  const RunTimes& times_;
  MllogLines& lines_;
  const std::vector<CoursePart> parts_;
  double last_ = 0;
};

/// Images that were trained on.
int64_t samplesOf(const RunRecord& record) {
  return record.globalBatch * (record.training ? record.training->steps : record.measuredSteps);
}

/// The statistics at the end of a run.
void addStatistics(const RunRecord& record, double at, MllogLines& lines) {
  const int64_t steps = record.training ? record.training->steps : record.warmup.steps + record.measuredSteps;
  const auto value = [&](const char* name) { return numberOr(metric(name).of(record, nullptr)); };
  lines.point(at, "tracked_stats",
              {{"throughput", value("images_per_s")},
               {"throughput_low", value("images_per_s_low")},
               {"throughput_high", value("images_per_s_high")},
               {"loss", value("final_loss")}},
              {{"step", steps}});
  if (!record.training) lines.point(at, "train_samples", samplesOf(record), {{"step", steps}});
}

}  // namespace

std::string mllogOf(const RunRecord& record) {
  const RunTimes times = runTimes(record);
  const bool ok = record.outcome.kind == OutcomeKind::ok;
  MllogLines lines;
  lines.begin(times.start, "init_start");
  addConfiguration(record, times.start, lines);
  lines.end(times.window, "init_stop", {{"warmup_steps", record.warmup.steps}, {"steady", record.warmup.steady}});
  lines.begin(times.window, "run_start");
  double end = ok ? times.windowEnd : times.end;
  if (ok && record.training) end = TrainingLines(record, times, lines).write();
  if (ok) addStatistics(record, end, lines);
  const std::string caveats = briefCaveats(record);
  const bool succeeded = ok && (!record.training || reachedItsEnd(record));
  Json status{{"status", succeeded ? "success" : "aborted"}, {"samples_count", samplesOf(record)}};
  if (!ok) status["reason"] = record.outcome.reason;
  if (ok && record.training && !record.training->ended.empty()) status["reason"] = record.training->ended;
  if (!caveats.empty()) status["caveats"] = caveats;
  lines.end(end, "run_stop", status);
  return lines.take();
}

}  // namespace tandem
