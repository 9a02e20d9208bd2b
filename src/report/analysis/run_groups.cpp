#include "report/analysis/run_groups.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "measure/metrics/metric.h"
#include "measure/validity/shortcoming.h"
#include "report/tables/tables.h"

namespace tandem {
namespace {

constexpr size_t firstLook = 3;  // the round after which bench looks for the first time

using Runs = std::vector<const RunRecord*>;

/// Joins parts to a text that no other list of parts gives.
class Key {
 public:
  void add(std::string_view part) { text_.append(concat(part.size(), ':')).append(part); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void addMachineAndBuild(Key& key, const RunRecord& record) {
  for (const EnvironmentFact& fact : factsOf(record)) {
    if (fact.of != FactOf::conditions) key.add(fact.value);
  }
}

/// What a finished run is known to have computed, as far as its options do not say it.
std::string contentsKey(const RunRecord& record) {
  const ActualSetup& used = record.placement;
  Key key;
  for (const std::string& part :
       {used.networkSha256, concat(used.parameters), shortest(used.forwardFlopsPerImage), used.update}) {
    key.add(part);
  }
  return key.take();
}

std::string workOptionsKey(const RunRecord& record, Variation fixed) {
  Key key;
  addMachineAndBuild(key, record);
  for (const Option& option : options()) {
    if (option.varies >= fixed) key.add(valueText(record.config, option));
  }
  return key.take();
}

std::vector<double> logRates(const RunGroup& group) {
  std::vector<double> rates;
  for (const RunRecord* run : group.counted) {
    if (const auto rate = logRate(*run)) rates.push_back(*rate);
  }
  return rates;
}

using RateByRound = std::map<std::pair<std::string, int64_t>, double>;

RateByRound byRound(const RunGroup& group) {
  RateByRound rates;
  for (const RunRecord* run : group.counted) {
    const auto rate = logRate(*run);
    if (rate && run->round > 0) rates[{run->sweep, run->round}] = *rate;
  }
  return rates;
}

std::vector<double> differencesByRound(const RunGroup& a, const RunGroup& b) {
  const RateByRound first = byRound(a), second = byRound(b);
  std::vector<double> differences;
  for (const auto& [round, rate] : first) {
    const auto other = second.find(round);
    if (other != second.end()) differences.push_back(rate - other->second);
  }
  return differences;
}

bool isFinished(const RunRecord* run) { return run->outcome.kind == OutcomeKind::ok; }

/// Joins items with equal keys, in the order of their first ones. An item that is not known whole, because it did not
/// finish, has the first part of a key alone; it joins the first items with that part.
template <class Item, class FirstPart, class SecondPart>
std::vector<std::vector<Item>> joined(std::vector<Item> items, FirstPart first, SecondPart second) {
  std::map<std::string, std::string> wholeKeyOf;
  for (const Item& item : items) {
    if (const auto part = second(item)) wholeKeyOf.emplace(first(item), first(item) + *part);
  }
  std::map<std::string, size_t> known;
  std::vector<std::vector<Item>> lists;
  for (Item& item : items) {
    const std::string options = first(item);
    const auto part = second(item);
    const auto whole = wholeKeyOf.find(options);
    const std::string key = part ? options + *part : whole == wholeKeyOf.end() ? options : whole->second;
    const auto [at, isNew] = known.emplace(key, lists.size());
    if (isNew) lists.emplace_back();
    lists[at->second].push_back(std::move(item));
  }
  return lists;
}

}  // namespace

std::optional<double> logRate(const RunRecord& record) {
  const auto rate = metric("images_per_s").of(record, nullptr);
  return rate ? std::optional(std::log(*rate)) : std::nullopt;
}

RunGroup::RunGroup(Runs of) : runs(std::move(of)) {
  check(!runs.empty(), "RunGroup: at least one run");
  std::ranges::copy_if(runs, std::back_inserter(counted),
                       [](const RunRecord* run) { return shortcoming(*run).empty(); });
}

Runs RunGroup::shown() const {
  if (!counted.empty()) return counted;
  Runs finished;
  std::ranges::copy_if(runs, std::back_inserter(finished), isFinished);
  return finished;
}

const RunRecord& RunGroup::typical() const {
  Runs sorted = shown();
  if (sorted.empty()) return *runs.front();
  std::ranges::stable_sort(sorted, {}, [](const RunRecord* run) { return logRate(*run); });
  return *sorted[(sorted.size() - 1) / 2];
}

std::vector<RunGroup> groupsOf(std::span<const RunRecord> records) {
  Runs runs;
  for (const RunRecord& record : records) runs.push_back(&record);
  const auto setup = [](const RunRecord* run) -> std::optional<std::string> {
    if (!isFinished(run)) return std::nullopt;
    return concat(run->placement.threadsPerReplica, ' ', contentsKey(*run));
  };
  std::vector<RunGroup> groups;
  for (Runs& same : joined(
           std::move(runs), [](const RunRecord* run) { return optionsKey(*run); }, setup)) {
    groups.emplace_back(std::move(same));
  }
  return groups;
}

std::vector<std::vector<RunGroup>> byWork(std::vector<RunGroup> groups, Variation fixed) {
  const auto contents = [](const RunGroup& group) -> std::optional<std::string> {
    const RunRecord& run = group.typical();
    if (!isFinished(&run)) return std::nullopt;
    return contentsKey(run);
  };
  return joined(
      std::move(groups), [fixed](const RunGroup& group) { return workOptionsKey(group.typical(), fixed); }, contents);
}

std::string optionsKey(const RunRecord& record, std::span<const std::string_view> except) {
  Key key;
  addMachineAndBuild(key, record);
  for (const Option& option : options()) {
    if (option.isAxis() && std::ranges::find(except, option.name) == except.end())
      key.add(valueText(record.config, option));
  }
  return key.take();
}

std::optional<Estimate> logRateOf(const RunGroup& group) { return estimateOfRepeats(logRates(group)); }

size_t LogRatio::looks() const { return rounds > firstLook ? rounds - firstLook + 1 : 1; }

std::optional<LogRatio> ratioOf(const RunGroup& a, const RunGroup& b) {
  const auto differences = differencesByRound(a, b);
  if (const auto paired = estimateOfRepeats(differences)) return LogRatio{*paired, differences.size()};
  const auto first = logRateOf(a), second = logRateOf(b);
  if (!first || !second) return std::nullopt;
  return LogRatio{difference(*first, *second)};
}

std::optional<double> spreadOfRepeats(std::span<const RunGroup> groups) {
  double squares = 0;
  size_t degrees = 0;
  for (const RunGroup& group : groups) {
    const auto rates = logRates(group);
    const auto deviation = standardDeviation(rates);
    if (!deviation) continue;
    squares += *deviation * *deviation * static_cast<double>(rates.size() - 1);
    degrees += rates.size() - 1;
  }
  if (degrees == 0) return std::nullopt;
  return std::sqrt(squares / static_cast<double>(degrees));
}

std::string differenceOfRunsText(std::optional<double> spread) {
  if (!spread) return "by how much runs of one configuration differ here is not known";
  return concat("runs of one configuration differed by ", fixed(100 * std::expm1(*spread), 1),
                " % here (standard deviation)");
}

}  // namespace tandem
