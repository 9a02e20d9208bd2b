#include <algorithm>
#include <array>

#include "base/statistics.h"
#include "base/text.h"
#include "cli/links/links_tables.h"
#include "config/device_set.h"
#include "measure/metrics/step_times.h"
#include "run/links/link_arithmetic.h"

namespace tandem {
namespace {

constexpr double bytesOfValue = 4;     // a gradient in fp32
constexpr double shareThatPays = 0.1;  // of a step: beyond it the exchange costs more than a tenth of the rate
constexpr double mebi = 1 << 20, mega = 1e6;
constexpr std::array stepsShown{0.01, 0.1, 1.0, 10.0};

/// All ways to all-reduce over one link.
struct Ways {
  const LinkSeries* first;
  std::vector<const LinkSeries*> all;
};

std::vector<Ways> waysByLink(std::span<const LinkSeries> series) {
  std::vector<Ways> links;
  for (const LinkSeries& each : series) {
    if (!linkKind(each.kind).sumsGradients || each.times.empty()) continue;
    const auto same = [&](const Ways& ways) {
      return ways.first->kind == each.kind && ways.first->link == each.link && ways.first->path == each.path;
    };
    auto at = std::ranges::find_if(links, same);
    if (at == links.end()) at = links.insert(at, Ways{&each, {}});
    at->all.push_back(&each);
  }
  return links;
}

/// The largest gradients that the best of these ways exchanges in so many seconds, and the way.
std::pair<double, const LinkSeries*> largestGradients(const Ways& ways, double seconds) {
  std::pair<double, const LinkSeries*> best{0, ways.first};
  for (const LinkSeries* way : ways.all) {
    const double bytes = largestWithin(*way, seconds);
    if (bytes > best.first) best = {bytes, way};
  }
  return best;
}

/// "3.20 M", "~3.20 M" beyond the largest size; "below 4 B": even the smallest takes longer.
std::string largestText(const Ways& ways, double seconds) {
  const auto [bytes, way] = largestGradients(ways, seconds);
  if (bytes < ways.first->times.front().bytes) {
    return concat("below ", bytesText(static_cast<double>(ways.first->times.front().bytes)));
  }
  return concat(isBeyond(*way, bytes) ? "~" : "", fixed(bytes / bytesOfValue / mega, 2), " M");
}

std::string stepText(const Gradients& network) {
  return network.stepSeconds ? fixed(*network.stepSeconds * 1e3, 1) : "-";
}

TableRow rowOf(const Gradients& network, const Ways& ways) {
  const double bytes = bytesOf(network);
  const LinkSeries& way = *fastestWay(ways.all, bytes);
  const double seconds = secondsAt(way, bytes);
  const auto step = network.stepSeconds;
  return {{network.model, concat(way.link, way.path.empty() ? "" : ", ", way.path), fixed(bytes / mebi, 2), way.way,
           concat(isBeyond(way, bytes) ? "~" : "", fixed(seconds * 1e3, 3)), stepText(network),
           step ? fixed(100 * seconds / *step, 1) : "-", step ? largestText(ways, shareThatPays * *step) : "-"},
          ""};
}

bool isStepOf(const RunRecord& record, const Gradients& network, const std::string& host) {
  return record.valid() && !record.profile && record.config.network.model == network.model &&
         totalReplicas(record.config) == 1 && record.environment.host == host && !stepSeconds(record).empty();
}

}  // namespace

double bytesOf(const Gradients& gradients) { return bytesOfValue * static_cast<double>(gradients.parameters); }

void findStep(Gradients& gradients, std::span<const RunRecord> records, const std::string& host) {
  const RunRecord* last = nullptr;
  for (const RunRecord& record : records) {
    if (isStepOf(record, gradients, host) && (last == nullptr || record.time >= last->time)) last = &record;
  }
  if (last == nullptr) return;
  gradients.stepSeconds = median(stepSeconds(*last));
  gradients.stepNote =
      concat(gradients.model, ": step of one replica with ", last->placement.threadsPerReplica, " thread(s), batch ",
             last->globalBatch, ", ", last->config.numerics.precision, ", measured ", last->time);
}

ResultTable gradientTable(std::span<const LinkSeries> series, std::span<const Gradients> networks) {
  ResultTable table{{{"model", "", false},
                     {"link", "", false},
                     {"gradients", "MiB", true},
                     {"fastest way", "", false},
                     {"all-reduce", "ms", true},
                     {"step", "ms", true},
                     {"of step", "%", true},
                     {"10 % carry", "parameters", true}},
                    {},
                    {},
                    "Gradients of each network over each link, in one all-reduce after backward",
                    2};
  const auto links = waysByLink(series);
  for (const Gradients& network : networks) {
    for (const Ways& ways : links) table.rows.push_back(rowOf(network, ways));
    if (!network.stepNote.empty()) table.notes.push_back(network.stepNote);
  }
  table.notes.emplace_back(
      "fp32, between measured sizes by straight lines; ~: beyond the largest size, in proportion to it");
  if (std::ranges::none_of(networks, [](const Gradients& each) { return each.stepSeconds.has_value(); })) {
    table.notes.emplace_back(
        "no step time is known: name a results file of this host with valid runs of one replica by --results");
  }
  return table;
}

ResultTable breakEvenTable(std::span<const LinkSeries> series) {
  ResultTable table{{{"link", "", false}}, {}, {}, "", 1};
  table.title = "From which step on it pays: the most parameters whose gradients are exchanged within 10 % of a step";
  for (const double step : stepsShown) table.columns.push_back({concat("step of ", secondsText(step)), "", true});
  for (const Ways& ways : waysByLink(series)) {
    std::vector<std::string> cells{concat(ways.first->link, ways.first->path.empty() ? "" : ", ", ways.first->path)};
    for (const double step : stepsShown) cells.push_back(largestText(ways, shareThatPays * step));
    table.rows.push_back({std::move(cells), ""});
  }
  table.notes.emplace_back(
      "in millions of parameters; ~: beyond the largest measured size, in proportion to it; without overlap, so what "
      "backward hides of an exchange (--overlap=on) comes on top");
  return table;
}

}  // namespace tandem
