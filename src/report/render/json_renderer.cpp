#include <nlohmann/json.hpp>
#include <vector>

#include "measure/metrics/metric.h"
#include "measure/record/record_json.h"
#include "report/analysis/baseline.h"
#include "report/render/builtin_renderers.h"

namespace tandem {
namespace {

/// Every metric by its name; null where it cannot be computed.
nlohmann::json metricsOf(const RunRecord& record, const RunRecord* baseline) {
  nlohmann::json values;
  for (const Metric& metric : metrics()) {
    const auto value = metric.of(record, baseline);
    values[std::string(metric.name)] = value ? nlohmann::json(*value) : nlohmann::json();
  }
  return values;
}

class JsonRenderer final : public Renderer {
 public:
  explicit JsonRenderer(std::ostream& out) : out_(out) {}

  void add(const RunRecord& record) override { records_.push_back(record); }

  void end() override {
    const auto baselines = baselinesOf(records_);
    for (size_t i = 0; i < records_.size(); ++i) {
      auto object = toJson(records_[i]);
      object["metrics"] = metricsOf(records_[i], baselines[i]);
      out_ << (i > 0 ? ",\n" : "[\n") << object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }
    out_ << (records_.empty() ? "[]\n" : "\n]\n");
  }

 private:
  std::ostream& out_;
  std::vector<RunRecord> records_;
};

}  // namespace

std::unique_ptr<Renderer> makeJsonRenderer(std::ostream& out) { return std::make_unique<JsonRenderer>(out); }

}  // namespace tandem
