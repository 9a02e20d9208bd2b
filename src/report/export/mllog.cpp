#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
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
  void begin(double time, const char* key, int line = __builtin_LINE()) {
    add({"INTERVAL_START", time, key, line}, nullptr, Json::object());
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

void addConfiguration(const RunRecord& record, double at, MllogLines& lines) {
  const Config& config = record.config;
  lines.point(at, "submission_benchmark", config.network.model);
  lines.point(at, "submission_platform", record.environment.host);
  lines.point(at, "global_batch_size", record.globalBatch);
  lines.point(at, "gradient_accumulation_steps", config.step.accumulate);
  lines.point(at, "seed", config.step.seed);
  if (config.step.forwardOnly) return;
  lines.point(at, "opt_name", config.step.optimizer);
  lines.point(at, "opt_base_learning_rate", config.step.learningRate);
  lines.point(at, "opt_weight_decay", config.step.weightDecay);
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
  if (ok) {
    const Json step{{"step", record.warmup.steps + record.measuredSteps}};
    const auto value = [&](const char* name) { return numberOr(metric(name).of(record, nullptr)); };
    lines.point(times.windowEnd, "tracked_stats",
                {{"throughput", value("images_per_s")},
                 {"throughput_low", value("images_per_s_low")},
                 {"throughput_high", value("images_per_s_high")},
                 {"loss", value("final_loss")}},
                step);
    lines.point(times.windowEnd, "train_samples", record.globalBatch * record.measuredSteps, step);
  }
  const std::string caveats = briefCaveats(record);
  Json status{{"status", ok ? "success" : "aborted"}, {"samples_count", record.globalBatch * record.measuredSteps}};
  if (!ok) status["reason"] = record.outcome.reason;
  if (!caveats.empty()) status["caveats"] = caveats;
  lines.end(ok ? times.windowEnd : times.end, "run_stop", status);
  return lines.take();
}

}  // namespace tandem
