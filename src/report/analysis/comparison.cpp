#include "report/analysis/comparison.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>

#include "base/number.h"
#include "base/text.h"
#include "config/option.h"
#include "measure/metrics/metric.h"
#include "measure/metrics/step_times.h"
#include "report/analysis/run_groups.h"
#include "report/tables/point_label.h"
#include "report/tables/tables.h"

namespace tandem {
namespace {

constexpr size_t runsOfRound = 4;  // of bench --compare

constexpr std::string_view anotherMachine = "another machine";

struct Difference {
  std::string what, a, b, means;
};

constexpr std::string_view otherWork = "other work: forbids the comparison";

/// What the network file or the zoo made of --model.
std::vector<Difference> networkDifferences(const ActualSetup& a, const ActualSetup& b) {
  const std::array found{
      Difference{"network file's SHA-256", a.networkSha256, b.networkSha256, ""},
      Difference{"parameters", concat(a.parameters), concat(b.parameters), ""},
      Difference{"forward FLOPs of an image", shortest(a.forwardFlopsPerImage), shortest(b.forwardFlopsPerImage), ""}};
  std::vector<Difference> differences;
  for (Difference each : found) {
    if (each.a == each.b) continue;
    each.means = otherWork;
    differences.push_back(std::move(each));
  }
  return differences;
}

std::vector<Difference> configurationDifferences(const RunRecord& a, const RunRecord& b) {
  std::vector<Difference> found;
  for (const Option& option : options()) {
    const std::string first = valueText(a.config, option), second = valueText(b.config, option);
    if (!option.isAxis() || first == second) continue;
    found.push_back({concat("--", option.name), oneLine(first), oneLine(second),
                     std::string(option.varies == Variation::work ? otherWork : "configuration")});
  }
  std::ranges::move(networkDifferences(a.placement, b.placement), std::back_inserter(found));
  if (a.placement.threadsPerReplica != b.placement.threadsPerReplica) {
    found.push_back({"threads per replica", concat(a.placement.threadsPerReplica),
                     concat(b.placement.threadsPerReplica), "configuration"});
  }
  return found;
}

std::vector<Difference> environmentDifferences(const RunRecord& a, const RunRecord& b) {
  std::vector<Difference> found;
  const auto first = factsOf(a), second = factsOf(b);
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i].value == second[i].value) continue;
    const bool another = first[i].of == FactOf::machine;
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

void refuseOtherNetworks(const std::vector<Difference>& configuration) {
  const auto other = std::ranges::find(configuration, otherWork, &Difference::means);
  if (other != configuration.end()) refuse(concat(described(*other), ", so an image is other work"));
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

void refuseSeveralMachines(const Side& side) {
  for (const RunRecord& run : side.runs) {
    const auto differences = environmentDifferences(side.runs.front(), run);
    const auto another = std::ranges::find(differences, anotherMachine, &Difference::means);
    if (another == differences.end()) continue;
    throw UsageError(concat("cannot compare ", side.name, ": its runs are of several machines (", another->what, " is ",
                            another->a, " and ", another->b,
                            "); choose the runs of one by their row in 'tandem report'"));
  }
}

/// Leaves out the runs that are not to be quoted, and says so in `notes`.
Side quotable(Side side, std::vector<std::string>& notes) {
  const size_t all = side.runs.size();
  const RunRecord first = side.runs.front();
  std::erase_if(side.runs, [](const RunRecord& run) { return !rateCaveats(run).empty(); });
  if (side.runs.empty()) {
    throw InvalidMeasurement(concat("cannot compare ", side.name, ": its run of ", first.time, " is ",
                                    rateCaveats(first), ", a number not to be quoted",
                                    all > 1 ? concat(", as the others are (", all, " runs)") : "",
                                    "; measure it again"));
  }
  if (side.runs.size() < all) {
    notes.push_back(concat(side.name, ": ", all - side.runs.size(), " of ", all,
                           " runs left out, which were not valid, not checked, not steady or on shared cores"));
  }
  return side;
}

/// Refuses copies: a copy of a run is not a repetition, and a run is not compared with itself.
void refuseCopies(const Side& a, const Side& b) {
  std::set<std::tuple<std::string, std::string, Nanos, Nanos>> seen;
  for (const Side* side : {&a, &b}) {
    for (const RunRecord& run : side->runs) {
      if (seen.emplace(run.environment.host, run.time, run.startup, run.window).second) continue;
      throw UsageError(concat("cannot compare ", a.name, " with ", b.name, ": the run of ", run.time,
                              " stands in them twice, and a copy is no repeat; name each run once"));
    }
  }
}

RunGroup groupOf(const Side& side) {
  std::vector<const RunRecord*> runs;
  for (const RunRecord& run : side.runs) runs.push_back(&run);
  return RunGroup(std::move(runs));
}

std::vector<double> logRates(const Side& side) {
  std::vector<double> rates;
  for (const RunRecord& run : side.runs) {
    if (const auto rate = logRate(run)) rates.push_back(*rate);
  }
  return rates;
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

/// The geometric mean of the runs.
std::string rateText(const Side& side) {
  const auto center = mean(logRates(side));
  return center ? fixed(std::exp(*center), 2) : "";
}

/// Relative standard deviation of the runs' rates.
std::string spreadText(const Side& side) {
  const auto deviation = standardDeviation(logRates(side));
  return deviation ? fixed(100 * *deviation, 1) + " %" : "an unknown amount";
}

std::string findingText(const std::optional<Significance>& judgement) {
  return judgement ? textOf(*judgement) : "cannot tell";
}

ResultTable rateTable(const Side& a, const Side& b, const std::optional<Significance>& judgement) {
  ResultTable table{{{"", "", false}, {"runs of", "", false}, {"runs", "", true}, {"images/s", "", true}}, {}, {}};
  table.title = "Comparison";
  table.rows.push_back({{"A", a.name, concat(a.runs.size()), rateText(a)}, ""});
  table.rows.push_back({{"B", b.name, concat(b.runs.size()), rateText(b)}, ""});
  table.notes.push_back("A against B: " + findingText(judgement));
  return table;
}

bool isProfile(const Side& side) {
  return std::ranges::any_of(side.runs, [](const RunRecord& run) { return run.profile.has_value(); });
}

std::vector<std::string> caveats(const Side& a, const Side& b, std::optional<double> spread) {
  std::vector<std::string> notes;
  if (a.runs.size() == 1 || b.runs.size() == 1) {
    notes.push_back(concat(a.runs.size() == b.runs.size() ? "one run each: " : "one run of a side: ",
                           differenceOfRunsText(spread), "; repeat the runs, taking turns (tandem bench --repeats)"));
  }
  for (const Side* side : {&a, &b}) {
    const bool dirty = std::ranges::any_of(side->runs, [](const RunRecord& run) { return run.environment.dirty; });
    if (dirty) notes.push_back(side->name + ": built from a tree with uncommitted changes");
    if (isProfile(*side))
      notes.push_back(side->name +
                      ": a profile, whose steps were taken apart; throughput is measured without --profile");
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

std::optional<Significance> judgementOf(std::span<const double> logRatios) {
  const auto ratio = estimateMean(logRatios);
  return ratio ? std::optional(significanceOf(*ratio)) : std::nullopt;
}

/// The whole rounds of the last bench --compare among some records.
struct Turns {
  Side a{"A", {}}, b{"B", {}};
  std::vector<double> logRatios;  ///< one value per round
};

Turns lastTurns(std::span<const RunRecord> records) {
  std::vector<RunRecord> runs;
  for (const RunRecord& record : records) {
    if (record.side.empty() || record.outcome.kind != OutcomeKind::ok) continue;
    if (!runs.empty() && runs.front().sweep != record.sweep) runs.clear();
    runs.push_back(record);
  }
  runs.resize(runs.size() / runsOfRound * runsOfRound);
  Turns turns;
  std::vector<double> rates;
  for (const RunRecord& run : runs) {
    (run.side == turns.a.name ? turns.a : turns.b).runs.push_back(run);
    rates.push_back(metric("images_per_s").of(run, nullptr).value_or(0));
  }
  turns.logRatios = logRatiosOfRounds(rates);
  const auto differing = differingOptions(runs);
  for (Side* side : {&turns.a, &turns.b}) {
    if (!differing.empty() && !side->runs.empty()) side->name = pointLabel(side->runs.front(), differing);
  }
  return turns;
}

bool suffices(const Turns& turns) {
  return std::min(turns.a.runs.size(), turns.b.runs.size()) * 2 >= fewestComparedRuns;
}

}  // namespace

bool isSameConfiguration(const RunRecord& a, const RunRecord& b) { return configurationDifferences(a, b).empty(); }

bool isSameMachine(const RunRecord& a, const RunRecord& b) {
  const auto differences = environmentDifferences(a, b);
  return std::ranges::none_of(differences, [](const Difference& fact) { return fact.means == anotherMachine; });
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
  for (const Option& option : options()) {
    const std::string first = valueText(a, option), second = valueText(b, option);
    if (option.varies == Variation::work && first != second)
      refuse(concat("--", option.name, " is ", first, " in A and ", second, " in B, so an image is other work"));
  }
}

std::vector<ResultTable> comparisonTables(const Side& allOfA, const Side& allOfB, std::optional<double> spread) {
  checkSameWork(allOfA.runs.front().config, allOfB.runs.front().config);
  for (const Side* side : {&allOfA, &allOfB}) refuseSeveralMachines(*side);
  refuseCopies(allOfA, allOfB);
  std::vector<std::string> leftOut;
  const Side a = quotable(allOfA, leftOut), b = quotable(allOfB, leftOut);
  const auto configuration = configurationDifferences(a.runs.front(), b.runs.front());
  const auto environment = environmentDifferences(a.runs.front(), b.runs.front());
  refuseOtherNetworks(configuration);
  refuseWithoutCause(a, b, configuration, environment);
  const auto ratio = ratioOf(groupOf(a), groupOf(b));
  std::optional<Significance> judgement;
  if (ratio) judgement = significanceOf(ratio->estimate);
  ResultTable rates = rateTable(a, b, judgement);
  std::ranges::copy(leftOut, std::back_inserter(rates.notes));
  std::ranges::copy(caveats(a, b, spread), std::back_inserter(rates.notes));
  std::vector<ResultTable> tables{differenceTable(configuration, environment), rates};
  const auto before = pooledProfile(a), after = pooledProfile(b);
  if (before && after) tables.push_back(changedParts(*before, *after));
  return tables;
}

std::vector<ResultTable> comparisonInTurns(const Side& a, const Side& b, std::span<const double> logRatios) {
  const auto judgement = judgementOf(logRatios);
  ResultTable rates = rateTable(a, b, judgement);
  rates.notes.push_back(concat(logRatios.size(), " rounds A B B A; runs of a side differ by ", spreadText(a),
                               " (A) and ", spreadText(b), " (B)"));
  if (judgement) {
    rates.notes.push_back(
        concat(detectableText("difference", judgement->detectablePercent), " in 98 of 100 such comparisons"));
  }
  for (const Side* side : {&a, &b}) {
    const auto doubtful =
        std::ranges::count_if(side->runs, [](const RunRecord& run) { return !rateCaveats(run).empty(); });
    if (doubtful > 0) {
      rates.notes.push_back(concat(doubtful, " of ", side->runs.size(), " runs of ", side == &a ? "A" : "B",
                                   " were not valid, not checked, not steady or on shared cores"));
    }
  }
  return {differenceTable(configurationDifferences(a.runs.front(), b.runs.front()), {}), rates};
}

std::vector<ResultTable> storedComparison(const std::string& where, const std::string& file,
                                          std::span<const RunRecord> records) {
  const Turns turns = lastTurns(records);
  if (!suffices(turns)) {
    throw UsageError(concat(where, ": it holds ", turns.logRatios.size(),
                            " whole rounds of a 'tandem bench --compare', ", fewestComparedRuns / runsOfRound,
                            " are needed; to compare rows, name two, as in ", file, ":1 ", file, ":2"));
  }
  return comparisonInTurns(turns.a, turns.b, turns.logRatios);
}

std::string comparisonFinding(std::span<const RunRecord> records) {
  const Turns turns = lastTurns(records);
  if (!suffices(turns)) return "";
  const auto named = [](const std::string& letter, const Side& side) {  // "A (batch=4)", or "A" without a difference
    return side.name == letter ? letter : concat(letter, " (", side.name, ')');
  };
  return concat(named("A", turns.a), " against ", named("B", turns.b), ": ", findingText(judgementOf(turns.logRatios)));
}

}  // namespace tandem
