#include "cli/links/links_tables.h"

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "base/text.h"
#include "report/tables/tables.h"
#include "run/links/link_arithmetic.h"

namespace tandem {
namespace {

constexpr size_t mostRows = 16;
constexpr double widestSpread = 10;  // %; above it a number is not to be quoted
constexpr double micro = 1e6, giga = 1e9;
constexpr std::string_view notKnown = "-";

/// Three digits, at most six of them behind the point. REQUIRES: not negative.
std::string shortNumber(double value) {
  constexpr int digits = 3, mostDecimals = 6;
  const int before = value > 0 ? static_cast<int>(std::floor(std::log10(value))) + 1 : 1;
  return fixed(value, std::clamp(digits - before, 0, mostDecimals));
}

std::string gigabytes(double bytesPerSecond) { return shortNumber(bytesPerSecond / giga); }
std::string microseconds(double seconds) { return shortNumber(seconds * micro); }

std::string sizeText(int64_t bytes) { return bytesText(static_cast<double>(bytes)); }

std::string percentOr(std::optional<double> percent) { return percent ? fixed(*percent, 1) : std::string(notKnown); }

std::string statedShare(const LinkSeries& series) {
  const LinkTimes* fastest = fastestSize(series);
  if (series.statedBytes <= 0 || fastest == nullptr) return std::string(notKnown);
  return fixed(100 * algorithmBandwidth(series, *fastest) / series.statedBytes, 1);
}

/// "0" or "0-3": hardware threads of neighbouring cores.
std::string nameOf(const CorePart& part, std::span<const int> threads) {
  if (part.first == part.last) return concat(threads[part.first]);
  return concat(threads[part.first], '-', threads[part.last]);
}

TableRow rowOf(const LinkSeries& series, const LinkTimes& times) {
  const double algorithm = algorithmBandwidth(series, times);
  return {{series.link, series.path.empty() ? std::string(notKnown) : series.path, series.way, sizeText(times.bytes),
           microseconds(typicalSeconds(times)), percentOr(spreadPercent(times)), concat(times.seconds.size()),
           concat(times.calls), gigabytes(algorithm), gigabytes(busBandwidth(series, times))},
          ""};
}

/// Says how many sizes of this kind were disturbed, if any were.
void noteSpread(ResultTable& table, std::span<const LinkSeries> series, const LinkKind& kind) {
  int64_t sizes = 0, wide = 0;
  for (const LinkSeries& each : series) {
    if (each.kind != kind.name) continue;
    sizes += std::ssize(each.times);
    wide += std::ranges::count_if(
        each.times, [](const LinkTimes& times) { return spreadPercent(times).value_or(0) > widestSpread; });
  }
  if (wide == 0) return;
  table.notes.push_back(concat(wide, " of ", sizes, " rows have +- above ", widestSpread,
                               " %: something else used the machine, or too few repeats; measure again before you "
                               "quote them"));
}

/// Seconds that reading the clock takes: the least of many pairs of readings.
double clockSeconds() {
  constexpr int pairs = 1000;
  Nanos least = Nanos::max();
  for (int i = 0; i < pairs; ++i) {
    const Nanos begin = now();
    least = std::min(least, now() - begin);
  }
  return seconds(least);
}

}  // namespace

ResultTable machineTable(const Environment& environment) {
  ResultTable table{{{"fact", "", false}, {"value", "", false}}, {}, {}, concat("Links of ", environment.host), 1};
  for (const EnvironmentFact& fact : factsOf(environment)) {
    if (fact.of == FactOf::machine) table.rows.push_back({{fact.name, fact.value}, ""});
  }
  table.rows.push_back({{"caches", environment.caches.empty() ? "unknown" : join(environment.caches)}, ""});
  table.rows.push_back({{"load before", environment.load1 < 0 ? "unknown" : fixed(environment.load1, 2)}, ""});
  return table;
}

ResultTable coreMatrix(std::span<const int> threads, const std::vector<std::vector<std::string>>& shared) {
  const auto parts = joinedCores(shared, mostRows);
  ResultTable table{{{"core", "", false}}, {}, {}, "Topology: the smallest part that two cores share", 1};
  for (const CorePart& column : parts) table.columns.push_back({nameOf(column, threads), "", false});
  for (const CorePart& row : parts) {
    std::vector<std::string> cells{nameOf(row, threads)};
    for (const CorePart& column : parts) cells.push_back(shared[row.first][column.last]);
    table.rows.push_back({std::move(cells), ""});
  }
  if (parts.size() < threads.size()) {
    table.notes.push_back(concat(threads.size(), " cores; those that share a cache or a node are one row and column"));
  }
  return table;
}

std::vector<ResultTable> gpuPathTables(const GpuLinks& links) {
  if (links.pairs.empty()) return {};
  ResultTable table{
      {{"GPU", "", false}, {"GPU", "", false}, {"path", "", false}, {"peer access", "", false}, {"atomics", "", false}},
      {},
      {},
      "Topology: paths between GPUs, in the words of nvidia-smi topo -m",
      2};
  for (const GpuLink& link : links.pairs) {
    table.rows.push_back(
        {{concat("cuda:", link.a), concat("cuda:", link.b), link.path, link.access, link.atomics}, ""});
  }
  return {table};
}

ResultTable linkSummary(std::span<const LinkSeries> series) {
  ResultTable table{{{"link", "", false},
                     {"path", "", false},
                     {"way", "", false},
                     {"kind", "", false},
                     {"smallest size", "us", true},
                     {"largest algbw", "GB/s", true},
                     {"busbw", "GB/s", true},
                     {"at", "", true},
                     {"data sheet", "GB/s", true},
                     {"share", "%", true}},
                    {},
                    {},
                    "Latency and bandwidth of each link",
                    4};
  for (const LinkSeries& each : series) {
    const LinkTimes* fastest = fastestSize(each);
    if (fastest == nullptr) continue;
    table.rows.push_back(
        {{each.link, each.path.empty() ? std::string(notKnown) : each.path, each.way, each.kind,
          microseconds(typicalSeconds(each.times.front())), gigabytes(algorithmBandwidth(each, *fastest)),
          gigabytes(busBandwidth(each, *fastest)), sizeText(fastest->bytes),
          each.statedBytes > 0 ? gigabytes(each.statedBytes) : std::string(notKnown), statedShare(each)},
         ""});
  }
  return table;
}

std::vector<ResultTable> linkTables(std::span<const LinkSeries> series) {
  std::vector<ResultTable> tables;
  for (const LinkKind& kind : linkKinds()) {
    ResultTable table{{{"link", "", false},
                       {"path", "", false},
                       {"way", "", false},
                       {"size", "", true},
                       {"time", "us", true},
                       {"+-", "%", true},
                       {"repeats", "", true},
                       {"calls", "", true},
                       {"algbw", "GB/s", true},
                       {"busbw", "GB/s", true}},
                      {},
                      {},
                      std::string(kind.title),
                      4};
    for (const LinkSeries& each : series) {
      if (each.kind != kind.name) continue;
      for (const LinkTimes& times : each.times) table.rows.push_back(rowOf(each, times));
    }
    if (table.rows.empty()) continue;
    noteSpread(table, series, kind);
    if (kind.clockedSingly) {
      table.notes.push_back(concat("reading the clock takes ", secondsText(clockSeconds()),
                                   ", which is in each time of what is not a flag"));
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace tandem
