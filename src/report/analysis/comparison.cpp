#include "report/analysis/comparison.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>

#include "base/text.h"
#include "config/option.h"
#include "measure/metrics/metric.h"
#include "measure/metrics/step_times.h"
#include "report/tables/point_label.h"
#include "report/tables/tables.h"

namespace tandem {
namespace {

/// Options that change the work of an image. Rates of different work do not compare.
constexpr std::array<std::string_view, 4> work{"model", "classes", "image-size", "forward-only"};

/// Facts that identify the machine. Library versions and the commit are not among them: comparing those is legitimate.
constexpr std::array<std::string_view, 9> machine{"host",       "cpu",    "cores", "hardware threads", "sockets",
                                                  "NUMA nodes", "memory", "gpus",  "gpu links"};

constexpr std::string_view anotherMachine = "another machine";

struct Difference {
  std::string what, a, b, means;
};

template <size_t count>
bool isOneOf(const std::array<std::string_view, count>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::vector<Difference> configurationDifferences(const RunRecord& a, const RunRecord& b) {
  std::vector<Difference> found;
  for (const Option& option : options()) {
    const std::string first = valueText(a.config, option), second = valueText(b.config, option);
    if (!option.isAxis() || first == second) continue;
    found.push_back({concat("--", option.name), oneLine(first), oneLine(second),
                     isOneOf(work, option.name) ? "other work: forbids the comparison" : "configuration"});
  }
  if (a.placement.threadsPerReplica != b.placement.threadsPerReplica) {
    found.push_back({"threads per replica", concat(a.placement.threadsPerReplica),
                     concat(b.placement.threadsPerReplica), "configuration"});
  }
  return found;
}

std::vector<Difference> environmentDifferences(const RunRecord& a, const RunRecord& b) {
  std::vector<Difference> found;
  const auto first = factsOf(a.environment), second = factsOf(b.environment);
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i].value == second[i].value) continue;
    const bool another = isOneOf(machine, first[i].name);
    found.push_back(
        {first[i].name, first[i].value, second[i].value, std::string(another ? anotherMachine : "environment")});
  }
  return found;
}

std::string described(const Difference& difference) {
  return concat(difference.what, " is ", difference.a, " in A and ", difference.b, " in B");
}

[[noreturn]] void refuse(const std::string& reason) {
  throw UsageError(concat("cannot compare A with B: ", reason, "; measure two that differ in what is asked about"));
}

void refuseWithoutCause(const Side& a, const Side& b, const std::vector<Difference>& configuration,
                        const std::vector<Difference>& environment) {
  if (a.runs.front().placement.control != b.runs.front().placement.control) {
    refuse("one of them exchanges nothing (a control run), so it does not train the same");
  }
  const auto another = std::ranges::find(environment, anotherMachine, &Difference::means);
  if (another != environment.end() && !configuration.empty()) {
    refuse(concat("both the machine and the configuration differ (", described(*another), "; ",
                  described(configuration.front()), "), so neither can be named as the cause"));
  }
}

void refuseInvalid(const Side& side) {
  for (const RunRecord& run : side.runs) {
    const std::string caveats = rateCaveats(run);
    if (!caveats.empty()) {
      throw InvalidMeasurement(concat("cannot compare ", side.name, ": its run of ", run.time, " is ", caveats,
                                      ", a number not to be quoted; measure it again"));
    }
  }
}

/// Refuses copies: a copy of a run is not a repetition.
void refuseCopies(const Side& side) {
  std::set<std::tuple<std::string, std::string, Nanos, Nanos>> seen;
  for (const RunRecord& run : side.runs) {
    if (seen.emplace(run.environment.host, run.time, run.startup, run.window).second) continue;
    throw UsageError(concat("cannot compare ", side.name, ": its run of ", run.time,
                            " stands in it twice, and a copy is no repeat; name each run once"));
  }
}

std::optional<Estimate> logRate(const Side& side) {
  if (side.runs.size() == 1) return logRateOf(side.runs.front());
  std::vector<double> rates;
  for (const RunRecord& run : side.runs) {
    if (const auto rate = metric("images_per_s").of(run, nullptr)) rates.push_back(std::log(*rate));
  }
  const auto center = mean(rates), spread = standardDeviation(rates);
  if (!center || !spread) return std::nullopt;
  return Estimate{*center, *spread / std::sqrt(static_cast<double>(rates.size())), rates.size() - 1};
}

ResultTable differenceTable(const std::vector<Difference>& configuration, const std::vector<Difference>& environment) {
  ResultTable table{{{"what differs", "", false}, {"A", "", false}, {"B", "", false}, {"kind", "", false}}, {}, {}};
  table.title = "What differs";
  for (const auto& differences : {configuration, environment}) {
    for (const auto& [what, a, b, means] : differences) table.rows.push_back({{what, a, b, means}, ""});
  }
  if (table.rows.empty())
    table.notes.emplace_back("nothing that is recorded: a comparison of a configuration with itself");
  return table;
}

std::string rateText(const std::optional<Estimate>& logarithm) {
  return logarithm ? fixed(std::exp(logarithm->value), 2) : "";
}

/// Relative standard deviation of the runs' rates.
std::string spreadText(const Side& side) {
  const auto estimate = logRate(side);
  if (!estimate || side.runs.size() < 2) return "an unknown amount";
  return fixed(100 * estimate->standardError * std::sqrt(static_cast<double>(side.runs.size())), 1) + " %";
}

ResultTable rateTable(const Side& a, const Side& b, const std::optional<Significance>& judgement) {
  ResultTable table{{{"", "", false}, {"runs of", "", false}, {"runs", "", true}, {"images/s", "", true}}, {}, {}};
  table.title = "Comparison";
  table.rows.push_back({{"A", a.name, concat(a.runs.size()), rateText(logRate(a))}, ""});
  table.rows.push_back({{"B", b.name, concat(b.runs.size()), rateText(logRate(b))}, ""});
  table.notes.push_back("A against B: " + (judgement ? textOf(*judgement) : "cannot tell"));
  return table;
}

std::vector<std::string> caveats(const Side& a, const Side& b, bool judged) {
  std::vector<std::string> notes;
  if (!judged) notes.emplace_back("too few steps for an interval: five or more are needed");
  if (a.runs.size() == 1 || b.runs.size() == 1) {
    notes.emplace_back(
        "the error of a single run is that of its steps; what differs from run to run is not in it: repeat the runs, "
        "taking turns");
  }
  for (const Side* side : {&a, &b}) {
    const bool dirty = std::ranges::any_of(side->runs, [](const RunRecord& run) { return run.environment.dirty; });
    if (dirty) notes.push_back(side->name + ": built from a tree with uncommitted changes");
  }
  return notes;
}

/// The steps of all runs of the side. Empty if one of them has no profile.
std::optional<Profile> pooledProfile(const Side& side) {
  std::optional<Profile> all;
  for (const RunRecord& run : side.runs) {
    if (!run.profile) return std::nullopt;
    if (!all) {
      all = run.profile;
      continue;
    }
    for (size_t i = 0; i < std::min(all->replicas.size(), run.profile->replicas.size()); ++i) {
      const auto& more = run.profile->replicas[i].steps;
      all->replicas[i].steps.insert(all->replicas[i].steps.end(), more.begin(), more.end());
    }
  }
  return all;
}

}  // namespace

bool isSameConfiguration(const RunRecord& a, const RunRecord& b) { return configurationDifferences(a, b).empty(); }

bool isSameMachine(const RunRecord& a, const RunRecord& b) {
  const auto differences = environmentDifferences(a, b);
  return std::ranges::none_of(differences, [](const Difference& fact) { return fact.means == anotherMachine; });
}

std::optional<Estimate> logRateOf(const RunRecord& run) {
  const auto rate = metric("images_per_s").of(run, nullptr);
  const auto step = estimateMean(stepSeconds(run));
  if (!rate || !step) return std::nullopt;
  return Estimate{std::log(*rate), step->standardError / step->value, step->degrees};
}

Side sideOf(const std::string& name, std::vector<RunRecord> records) {
  Side side{name, std::move(records)};
  const RunRecord& first = side.runs.front();
  if (side.runs.size() == 1 && first.outcome.kind != OutcomeKind::ok) {
    throw InvalidMeasurement(concat(name, ": that run did not finish: ", oneLine(first.outcome.reason)));
  }
  std::erase_if(side.runs, [](const RunRecord& run) { return run.outcome.kind != OutcomeKind::ok; });
  if (side.runs.empty()) throw InvalidMeasurement(name + ": no run in it has finished");
  checkOneConfiguration(name, side.runs);
  return side;
}

void checkOneConfiguration(const std::string& name, std::span<const RunRecord> runs) {
  for (const RunRecord& run : runs) {
    const auto differences = configurationDifferences(runs.front(), run);
    if (differences.empty()) continue;
    throw UsageError(concat(name, " holds runs of several configurations (", differences.front().what, " is ",
                            differences.front().a, " and ", differences.front().b,
                            "); choose one by its row in 'tandem report', as in ", name, ":1"));
  }
}

void checkSameWork(const Config& a, const Config& b) {
  for (const std::string_view name : work) {
    const Option& option = *findOption(name);
    const std::string first = valueText(a, option), second = valueText(b, option);
    if (first != second)
      refuse(concat("--", name, " is ", first, " in A and ", second, " in B, so an image is other work"));
  }
}

std::vector<ResultTable> comparisonTables(const Side& a, const Side& b) {
  checkSameWork(a.runs.front().config, b.runs.front().config);
  const auto configuration = configurationDifferences(a.runs.front(), b.runs.front());
  const auto environment = environmentDifferences(a.runs.front(), b.runs.front());
  refuseWithoutCause(a, b, configuration, environment);
  for (const Side* side : {&a, &b}) refuseInvalid(*side), refuseCopies(*side);
  const auto first = logRate(a), second = logRate(b);
  std::optional<Significance> judgement;
  if (first && second) judgement = significanceOf(difference(*first, *second));
  ResultTable rates = rateTable(a, b, judgement);
  std::ranges::copy(caveats(a, b, judgement.has_value()), std::back_inserter(rates.notes));
  std::vector<ResultTable> tables{differenceTable(configuration, environment), rates};
  const auto before = pooledProfile(a), after = pooledProfile(b);
  if (before && after) tables.push_back(changedParts(*before, *after));
  return tables;
}

std::vector<ResultTable> comparisonInTurns(const Side& a, const Side& b, std::span<const double> logRatios) {
  std::optional<Significance> judgement;
  if (const auto ratio = estimateMean(logRatios)) judgement = significanceOf(*ratio);
  ResultTable rates = rateTable(a, b, judgement);
  rates.notes.push_back(concat(logRatios.size(), " rounds A B B A; runs of a side differ by ", spreadText(a),
                               " (A) and ", spreadText(b), " (B)"));
  for (const Side* side : {&a, &b}) {
    const auto doubtful =
        std::ranges::count_if(side->runs, [](const RunRecord& run) { return !rateCaveats(run).empty(); });
    if (doubtful > 0) {
      rates.notes.push_back(concat(doubtful, " of ", side->runs.size(), " runs of ", side == &a ? "A" : "B",
                                   " were not valid, not steady or on shared cores"));
    }
  }
  return {differenceTable(configurationDifferences(a.runs.front(), b.runs.front()), {}), rates};
}

}  // namespace tandem
