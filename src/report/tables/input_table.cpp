#include <algorithm>

#include "base/text.h"
#include "config/device_set.h"
#include "measure/metrics/metric.h"
#include "report/tables/tables.h"

namespace tandem {
namespace {

constexpr double notable = 1;  // percent of a step

std::optional<double> valueIn(const RunRecord& record, std::string_view name) {
  return metric(name).of(record, nullptr);
}

/// The share of a step that waits for input, in percent; empty where no data set was read beside training.
std::optional<double> waitOf(const RunRecord& record) {
  if (record.config.input.data.empty() || record.config.step.loaderOnly) return std::nullopt;
  return valueIn(record, "input_wait_percent");
}

/// images/s if no step waited. Empty on GPUs: the host waits there while they compute what they were given.
std::optional<double> rateWithoutWait(const RunRecord& record) {
  const auto rate = valueIn(record, "images_per_s"), wait = waitOf(record);
  if (!rate || !wait || *wait >= 100 || !isOnCpu(record.config)) return std::nullopt;
  return *rate / (1 - *wait / 100);
}

std::string cell(std::optional<double> value, int decimals) { return value ? fixed(*value, decimals) : ""; }

}  // namespace

std::vector<ResultTable> inputTables(const ReportRuns& runs) {
  const Metric& rate = metric("images_per_s");
  const Metric& epoch = metric("epoch_s");
  ResultTable table{{{"run", "", false},
                     {"waits", "% of a step", true},
                     {"images/s", "", true},
                     {"without waits", "images/s", true},
                     {"epoch", "s", true},
                     {"caveats", "", false, /*caveats=*/true}},
                    {},
                    {}};
  for (const size_t row : runs.shown()) {
    const RunRecord& record = runs.at(row);
    const auto wait = waitOf(record);
    if (!wait) continue;
    const std::string caveats = briefCaveats(record);
    table.rows.push_back(
        {{runs.nameOf(row), fixed(*wait, 1), cell(rate.of(record, nullptr), rate.decimals),
          cell(rateWithoutWait(record), rate.decimals), cell(epoch.of(record, nullptr), epoch.decimals), caveats},
         "",
         !caveats.empty()});
  }
  if (table.rows.empty()) return {};
  return {std::move(table)};
}

std::vector<std::string> inputLines(const RunRecord& record) {
  const auto wait = waitOf(record);
  if (!wait) return {};
  const std::string_view beside =
      isOnCpu(record.config) ? "; what is made beside the steps takes more from the same cores" : "";
  const std::string size =
      concat("; 'tandem data size ", record.config.input.data, " --model=", record.config.network.model, '\'');
  const std::string share = concat("input: waiting for batches takes ", fixed(*wait, 1), " % of a step");
  if (*wait < notable)
    return {concat(share, ", so it does not limit training", beside, beside.empty() ? "" : size,
                   beside.empty() ? "" : " says what that is")};
  const auto without = rateWithoutWait(record);
  const double rate = valueIn(record, "images_per_s").value_or(0);
  return {concat(share,
                 without
                     ? concat(", which costs ", fixed(*without - rate, metric("images_per_s").decimals), " images/s")
                     : " of the host's thread",
                 beside, size, " shows what would help")};
}

}  // namespace tandem
