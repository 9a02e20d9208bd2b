#include <vector>

#include "base/number.h"
#include "base/text.h"
#include "base/utf8.h"
#include "config/option.h"
#include "measure/metrics/metric.h"
#include "measure/validity/stationarity.h"
#include "report/analysis/baseline.h"
#include "report/analysis/csv_table.h"
#include "report/render/builtin_renderers.h"

namespace tandem {
namespace {

std::string outcomeText(const Outcome& outcome) {
  if (outcome.kind == OutcomeKind::ok) return "ok";
  if (outcome.kind == OutcomeKind::skipped) return "skipped";
  return concat("failed (", nameOf(outcome.code), ")");
}

std::string steadyText(const RunRecord& record) {
  if (record.outcome.kind != OutcomeKind::ok) return "";
  return notSteadyBecause(record).empty() ? "true" : "false";
}

bool isInRecords(const Option& option) { return (option.commands & inRecords) != 0; }

std::vector<std::string> headings() {
  std::vector<std::string> names{"time", "host", "sweep", "round"};
  for (const Option& option : options()) {
    if (isInRecords(option)) names.emplace_back(option.name);
  }
  for (const Metric& metric : metrics()) names.emplace_back(metric.name);
  names.insert(names.end(), {"outcome", "reason", "steady", "not_valid", "notes"});
  return names;
}

std::vector<std::string> fieldsOf(const RunRecord& record, const RunRecord* baseline) {
  std::vector<std::string> fields{record.time, record.environment.host, record.sweep,
                                  record.round > 0 ? concat(record.round) : ""};
  for (const Option& option : options()) {
    if (isInRecords(option)) fields.push_back(valueText(record.config, option));
  }
  for (const Metric& metric : metrics()) {
    const auto value = metric.of(record, baseline);
    fields.push_back(value ? shortest(*value) : "");
  }
  fields.insert(fields.end(), {outcomeText(record.outcome), record.outcome.reason, steadyText(record),
                               join(record.interference.reasons, "; "), join(record.notes, "; ")});
  return fields;
}

class CsvRenderer final : public Renderer {
 public:
  explicit CsvRenderer(std::ostream& out) : out_(out) {}

  void add(const RunRecord& record) override { records_.push_back(record); }

  void end() override {
    printLine(headings());
    const auto baselines = baselinesOf(records_);
    for (size_t i = 0; i < records_.size(); ++i) printLine(fieldsOf(records_[i], baselines[i]));
  }

 private:
  void printLine(const std::vector<std::string>& fields) {
    for (size_t i = 0; i < fields.size(); ++i) out_ << (i > 0 ? "," : "") << csvField(withoutControls(fields[i]));
    out_ << '\n';
  }

  std::ostream& out_;
  std::vector<RunRecord> records_;
};

}  // namespace

std::unique_ptr<Renderer> makeCsvRenderer(std::ostream& out) { return std::make_unique<CsvRenderer>(out); }

}  // namespace tandem
