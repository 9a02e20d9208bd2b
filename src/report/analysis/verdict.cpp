#include "report/analysis/verdict.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"
#include "base/text.h"
#include "base/utf8.h"
#include "config/command_line.h"
#include "measure/metrics/metric.h"
#include "measure/metrics/significance.h"
#include "measure/validity/shortcoming.h"
#include "report/analysis/run_groups.h"
#include "report/tables/equality_table.h"
#include "report/tables/point_label.h"
#include "report/tables/tables.h"

namespace tandem {
namespace {

constexpr size_t mostNamed = 4;

/// The first texts, and how many there are more.
std::string someOf(std::vector<std::string> texts, std::string_view separator) {
  const size_t all = texts.size();
  texts.resize(std::min(mostNamed, all));
  return concat(join(texts, separator), all > mostNamed ? concat(separator, "and ", all - mostNamed, " more") : "");
}

/// A point whose rate counts.
struct Contender {
  const RunGroup* group;
  double rate;  ///< median of its runs
  std::string label;
};

/// The groups of one work, and what they are called.
struct Field {
  std::span<const RunGroup> groups;
  std::vector<const Option*> differing;
  std::optional<double> spread;  ///< of log(images/s) between repeats
  bool withErrors = false;       ///< labels say by how much the weights' change is off

  std::string labelOf(const RunGroup& group) const {
    const std::string label = pointLabel(group.typical(), differing);
    return withErrors ? concat(label, " (equal: ", equalText(group.runs), ')') : label;
  }
};

std::optional<double> medianRate(std::span<const RunRecord* const> runs) {
  std::vector<double> rates;
  for (const RunRecord* run : runs) {
    if (const auto rate = metric("images_per_s").of(*run, nullptr)) rates.push_back(*rate);
  }
  return median(rates);
}

std::vector<Contender> contendersOf(const Field& field) {
  std::vector<Contender> contenders;
  for (const RunGroup& group : field.groups) {
    const auto rate = medianRate(group.counted);
    if (rate && !group.typical().placement.control) contenders.push_back({&group, *rate, field.labelOf(group)});
  }
  std::ranges::stable_sort(contenders, std::ranges::greater{}, &Contender::rate);
  return contenders;
}

std::string rateText(const Contender& contender) {
  return concat(fixed(contender.rate, metric("images_per_s").decimals), " images/s");
}

std::string described(const Contender& contender) {
  const size_t runs = contender.group->counted.size();
  return concat(contender.label, ", ", rateText(contender), runs > 1 ? concat(" (median of ", runs, " runs)") : "",
                contender.group->typical().profile ? " (a profile, no measurement of throughput)" : "");
}

std::vector<const RunRecord*> runsOf(const Field& field) {
  std::vector<const RunRecord*> runs;
  for (const RunGroup& group : field.groups) runs.insert(runs.end(), group.runs.begin(), group.runs.end());
  return runs;
}

/// "1 failed, 2 not steady": the runs that do not count. Empty without any.
std::string countsOf(const std::vector<const RunRecord*>& runs) {
  std::vector<std::string> parts;
  for (const auto& [name, remedy, count] : countShortcomings(runs)) {
    if (count > 0) parts.push_back(concat(count, ' ', name, remedy.empty() ? "" : concat(" (", remedy, ')')));
  }
  return join(parts);
}

/// The same of the finished runs.
std::string countsOfLeftOut(std::vector<const RunRecord*> runs) {
  std::erase_if(runs, [](const RunRecord* run) { return run->outcome.kind != OutcomeKind::ok; });
  return countsOf(runs);
}

/// Why the first run that does not count was disturbed, and what to do; empty if none was.
std::string firstDisturbance(const std::vector<const RunRecord*>& runs) {
  for (const RunRecord* run : runs) {
    if (run->interference.reasons.empty()) continue;
    const bool allowed = run->config.measurement.allowInterference;
    return concat(": ", run->interference.reasons.front(), "; end what else runs here and measure again",
                  allowed ? "" : " (with --allow-interference the exit code is 0, but such runs do not count either)");
  }
  return "";
}

std::string noneToJudge(const Field& field) {
  const auto runs = runsOf(field);
  if (runs.empty()) return "no point to judge: no run";
  const std::string counts = countsOf(runs);
  return concat("no point to judge: ", counts.empty() ? "the replicas of all runs exchange nothing" : counts,
                firstDisturbance(runs));
}

/// The points of which no run counts although one finished: any of them may be the fastest. Profiles are no candidates.
std::vector<const RunGroup*> notJudged(const Field& field) {
  std::vector<const RunGroup*> points;
  for (const RunGroup& group : field.groups) {
    const RunRecord& run = group.typical();
    if (group.counted.empty() && !group.shown().empty() && !run.placement.control && !run.profile) {
      points.push_back(&group);
    }
  }
  return points;
}

/// "; left out: 2 not valid", and the points that are not judged at all.
std::string leftOut(const Field& field) {
  const std::string counts = countsOfLeftOut(runsOf(field));
  std::vector<std::string> points;
  for (const RunGroup* group : notJudged(field)) {
    points.push_back(concat(field.labelOf(*group), " (", shortcoming(group->typical()), ')'));
  }
  return concat(counts.empty() ? "" : "; left out: " + counts,
                points.empty() ? "" : concat("; not judged, and maybe faster: ", someOf(points, ", ")));
}

/// What the rates of a field say: who may be the fastest, and how surely.
struct Ranking {
  std::vector<const Contender*> leaders;
  std::optional<Significance> lead;  ///< over the second, where one has repeats
  double detectablePercent = 0;      ///< the largest that a comparison with a leader would have shown
  bool repeated = false;             ///< at least one comparison rests on repeats
};

Ranking rankingOf(const std::vector<Contender>& contenders) {
  Ranking ranking{{&contenders.front()}, {}, 0, false};
  for (size_t i = 1; i < contenders.size(); ++i) {
    const auto ratio = ratioOf(*contenders.front().group, *contenders[i].group);
    std::optional<Significance> found;
    if (ratio) found = significanceOf(ratio->estimate, (contenders.size() - 1) * ratio->looks());
    if (i == 1) ranking.lead = found;
    ranking.repeated = ranking.repeated || ratio;
    if (found && found->finding == Finding::faster) continue;
    ranking.leaders.push_back(&contenders[i]);
    if (found) ranking.detectablePercent = std::max(ranking.detectablePercent, found->detectablePercent);
  }
  return ranking;
}

std::string noRepeats(const Field& field, const std::vector<Contender>& contenders) {
  const double percent = 100 * (contenders[0].rate / contenders[1].rate - 1);
  return concat("one run each, so none is said to be ahead: highest ", described(contenders[0]), ", ",
                fixed(percent, 1), " % above ", contenders[1].label, "; ", differenceOfRunsText(field.spread),
                "; measure with --repeats=3 or more");
}

/// "; strategy=a / strategy=b 1.012 (95 % interval 0.981 to 1.044)": of two alone. Empty for others.
std::string ratioOfTwo(const std::vector<Contender>& contenders, const std::optional<Significance>& lead) {
  if (contenders.size() != 2 || !lead) return "";
  const auto ratio = [](double percent) { return fixed(1 + percent / 100, 3); };
  return concat("; ", contenders[0].label, " / ", contenders[1].label, ' ', ratio(lead->percent), " (95 % interval ",
                ratio(lead->percent95.low), " to ", ratio(lead->percent95.high), ')');
}

std::string tie(const std::vector<Contender>& contenders, const Ranking& ranking) {
  std::vector<std::string> named;
  for (const Contender* leader : ranking.leaders) named.push_back(described(*leader));
  return concat("cannot tell the fastest of ", named.size(), ": ", someOf(named, "; "),
                ratioOfTwo(contenders, ranking.lead), "; ", detectableText("lead", ranking.detectablePercent));
}

std::string ahead(const Contender& first, const Contender& second, const std::optional<Significance>& lead) {
  return concat("fastest: ", described(first), ", ", fixed(lead->percent, 1), " % ahead of ", second.label,
                " (95 % interval ", fixed(lead->percent95.low, 1), " to ", fixed(lead->percent95.high, 1), " %)");
}

std::string findingOf(const Field& field, const std::vector<Contender>& contenders, const Ranking& ranking) {
  if (contenders.size() == 1) {
    return concat(notJudged(field).empty() ? "one point finished: " : "one point counts: ",
                  described(contenders.front()));
  }
  if (!ranking.repeated) return noRepeats(field, contenders);
  if (ranking.leaders.size() > 1) return tie(contenders, ranking);
  return ahead(contenders[0], contenders[1], ranking.lead);
}

/// The command that repeats runs of Tandem, with more repeats if `again`. Another program's stands in the notes of its
/// record.
std::string repeatOf(const std::vector<const RunRecord*>& runs, bool again) {
  const Config::Measurement standard = Config().measurement;
  std::vector<Config> configs;
  for (const RunRecord* run : runs) {
    if (run->config.measurement.program != standard.program) return "";
    configs.push_back(run->config);
    if (again) configs.back().measurement.repeats = standard.repeats;
  }
  std::vector<const Config*> each;
  for (const Config& config : configs) each.push_back(&config);
  const bool trained = std::ranges::all_of(runs, [](const RunRecord* run) { return run->training.has_value(); });
  return commandLine(trained ? "train" : "bench", each);
}

Verdict verdictOf(const Field& field) {
  const auto contenders = contendersOf(field);
  if (contenders.empty()) return {"", noneToJudge(field), "", nullptr, {}};
  const Ranking ranking = rankingOf(contenders);
  Verdict verdict;
  verdict.finding = findingOf(field, contenders, ranking) + leftOut(field);
  verdict.fastest = &contenders.front().group->typical();
  for (const Contender* leader : ranking.leaders) verdict.leaders.push_back(&leader->group->typical());
  auto open = verdict.leaders;  // what may be the fastest
  for (const RunGroup* group : notJudged(field)) open.push_back(&group->typical());
  verdict.repeat = repeatOf(open, /*again=*/contenders.size() > 1 && !ranking.repeated);
  return verdict;
}

using NamedValues = std::vector<std::pair<std::string, std::string>>;

/// Everything that makes the work of a run, by name.
NamedValues workOf(const RunRecord& run, Variation fixed) {
  NamedValues facts;
  for (const Option& option : options()) {
    if (option.varies >= fixed) facts.emplace_back(option.name, oneLine(valueText(run.config, option)));
  }
  facts.emplace_back("network-file", run.placement.networkSha256.substr(0, 12));
  facts.emplace_back("update", run.placement.update.empty() ? "exact" : run.placement.update);
  facts.emplace_back("parameters", concat(run.placement.parameters));
  for (const EnvironmentFact& fact : factsOf(run)) {
    if (fact.of != FactOf::conditions) facts.emplace_back(fact.name, fact.value);
  }
  return facts;
}

/// "model=resnet20 precision=bf16": what each work has and some other has not.
std::vector<std::string> workTexts(const std::vector<NamedValues>& works) {
  std::vector<std::string> texts;
  for (const NamedValues& work : works) {
    std::vector<std::string> parts;
    for (size_t i = 0; i < work.size(); ++i) {
      const bool differs =
          std::ranges::any_of(works, [&](const NamedValues& other) { return other[i].second != work[i].second; });
      if (differs) parts.push_back(concat(work[i].first, '=', work[i].second));
    }
    texts.push_back(join(parts, " "));
  }
  return texts;
}

/// Whether there are several works that differ in rounding alone, and the error of each point with a rate is known.
bool comparesRounding(const std::vector<RunGroup>& groups) {
  return byWork(groups).size() > 1 && std::ranges::all_of(groups, [](const RunGroup& group) {
           return group.counted.empty() || !equalText(group.runs).empty();
         });
}

/// A verdict for each of the works, in which options of variations less than `fixed` differ.
std::vector<Verdict> verdictsOf(const std::vector<std::vector<RunGroup>>& works, std::span<const RunRecord> records,
                                Variation fixed) {
  std::vector<const Option*> ways = differingOptions(records);
  std::erase_if(ways, [&](const Option* option) { return option->varies >= fixed; });
  std::vector<NamedValues> named;
  for (const auto& groups : works) named.push_back(workOf(groups.front().typical(), fixed));
  const auto texts = workTexts(named);
  std::vector<Verdict> verdicts;
  for (size_t i = 0; i < works.size(); ++i) {
    verdicts.push_back(verdictOf({works[i], ways, spreadOfRepeats(works[i]), fixed > Variation::rounding}));
    verdicts.back().work = texts[i];
    if (fixed > Variation::rounding)
      verdicts.back().work += texts[i].empty() ? "across precisions" : " across precisions";
  }
  return verdicts;
}

}  // namespace

std::vector<Verdict> verdictsOn(std::span<const RunRecord> records) {
  const auto works = byWork(groupsOf(records));
  if (works.empty()) return {{"", noneToJudge({}), "", nullptr, {}}};
  return verdictsOf(works, records, Variation::rounding);
}

std::vector<Verdict> verdictsAcrossRounding(std::span<const RunRecord> records) {
  auto works = byWork(groupsOf(records), Variation::result);
  std::erase_if(works, [](const auto& work) { return !comparesRounding(work); });
  return verdictsOf(works, records, Variation::result);
}

std::string findingText(const Verdict& verdict) {
  return concat(verdict.work, verdict.work.empty() ? "" : ": ", verdict.finding);
}

std::string textOf(const Verdict& verdict) {
  return concat(findingText(verdict), verdict.repeat.empty() ? "" : "; repeat with: " + verdict.repeat);
}

std::string verdictText(std::span<const RunRecord> records) {
  std::vector<std::string> lines;
  for (const Verdict& verdict : verdictsOn(records)) lines.push_back(withoutControls(textOf(verdict)));
  for (const Verdict& verdict : verdictsAcrossRounding(records)) lines.push_back(withoutControls(textOf(verdict)));
  return join(lines, "\n");
}

}  // namespace tandem
