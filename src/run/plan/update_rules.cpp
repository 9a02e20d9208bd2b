#include <span>

#include "base/text.h"
#include "config/option.h"
#include "run/plan/rule_check.h"
#include "run/plan/rules.h"

namespace tandem {
namespace {

/// An option that differs from its default, and the rows of a catalog that read it.
template <class Entry>
struct ReadOption {
  std::string_view name;
  bool changed;
  bool Entry::*readers;
};

/// The first that the row does not read. `option`: that of the catalog.
template <class Entry, size_t count>
Breach unread(const ReadOption<Entry> (&options)[count], const Entry& row, std::string_view option,
              std::span<const Entry> catalog) {
  for (const ReadOption<Entry>& each : options) {
    if (!each.changed || row.*each.readers) continue;
    return concat(each.name, " does nothing with ", option, '=', row.name, "; only ",
                  thoseWith(option, catalog, each.readers), " use it");
  }
  return std::nullopt;
}

Breach coefficientsAreUsed(const Config& config, const Setup& setup) {
  const Config::Step& own = config.step;
  const Config::Step usual;
  const ReadOption<OptimizerEntry> options[] = {
      {"--nesterov", own.nesterov, &OptimizerEntry::usesNesterov},
      {"--momentum", own.momentum != usual.momentum, &OptimizerEntry::usesMomentum},
      {"--adam-beta1", own.adamBeta1 != usual.adamBeta1, &OptimizerEntry::usesBetas},
      {"--adam-beta2", own.adamBeta2 != usual.adamBeta2, &OptimizerEntry::usesBetas},
      {"--adam-epsilon", own.adamEpsilon != usual.adamEpsilon, &OptimizerEntry::usesEpsilon},
      {"--rmsprop-decay", own.rmspropDecay != usual.rmspropDecay, &OptimizerEntry::usesSquareDecay},
      {"--trust", own.trust != usual.trust, &OptimizerEntry::usesTrust},
  };
  return unread(options, *setup.optimizer, "--optimizer", optimizers());
}

/// Whether the number of steps is known before the first.
bool knowsItsEnd(const Config& config) { return config.measurement.steps > 0 || config.training.epochs > 0; }

Breach scheduleKnowsItsEnd(const Config& config, const Setup& setup) {
  if (knowsItsEnd(config) || !setup.schedule->needsTotal) return std::nullopt;
  return concat("--schedule=", config.step.schedule, " needs --steps: it ends at the last step, as --steps=1000");
}

Breach scheduleHasEpochs(const Config& config, const Setup& setup) {
  if (config.training.epochs > 0 || !setup.schedule->needsEpochs) return std::nullopt;
  return concat("--schedule=", config.step.schedule,
                " needs --epochs: it counts them or their evaluations; use it in tandem train");
}

Breach scheduleHasItsFalls(const Config& config, const Setup& setup) {
  if (!config.training.lrSteps.empty() || !setup.schedule->usesFalls) return std::nullopt;
  return concat("--schedule=", config.step.schedule,
                " needs --lr-steps, the epochs at which the rate falls, as --lr-steps=30+60+80");
}

Breach courseIsUsed(const Config& config, const Setup& setup) {
  const Config::Training& own = config.training;
  const Config::Training usual;
  const ReadOption<ScheduleEntry> options[] = {
      {"--lr-steps", own.lrSteps != usual.lrSteps, &ScheduleEntry::usesFalls},
      {"--lr-factor", own.lrFactor != usual.lrFactor, &ScheduleEntry::usesFactor},
      {"--lr-power", own.lrPower != usual.lrPower, &ScheduleEntry::usesPower},
      {"--lr-end", own.lrEnd != usual.lrEnd, &ScheduleEntry::usesEnd},
      {"--patience", own.patience != usual.patience, &ScheduleEntry::followsLoss},
  };
  return unread(options, *setup.schedule, "--schedule", schedules());
}

Breach gradientsAreClippedTogether(const Config& config, const Setup& setup) {
  if (config.step.clipNorm == 0 || setup.strategy->clips) return std::nullopt;
  return concat("--clip-norm=", config.step.clipNorm, " with --strategy=", config.exchange.strategy,
                ": its servers update a variable before they know the norm of all gradients; use ",
                thoseWith("--strategy", strategies(), &StrategyEntry::clips));
}

Breach averageIsOfOneTraining(const Config& config, const Setup& setup) {
  if (averageText(config.step).empty() || !setup.strategy->usesLocalSgd) return std::nullopt;
  return concat(averageText(config.step), " with --strategy=", config.exchange.strategy,
                ": each replica would average its own weights; leave one of them out");
}

Breach thereIsOneAverage(const Config& config, const Setup&) {
  if (config.step.ema == 0 || config.step.lookahead == 0) return std::nullopt;
  return concat("--ema=", config.step.ema, " with --lookahead=", config.step.lookahead,
                ": each evaluates an average of its own; leave one of them out");
}

Breach lookaheadIsUsed(const Config& config, const Setup&) {
  const Config::Step& own = config.step;
  const Config::Step usual;
  if (own.lookahead > 0) return std::nullopt;
  const auto needs = [](std::string_view option) { return concat(option, " needs --lookahead=N, as --lookahead=5"); };
  if (own.lookaheadDecay != usual.lookaheadDecay) return needs("--lookahead-decay");
  if (own.lookaheadPower != usual.lookaheadPower) return needs("--lookahead-power");
  return std::nullopt;
}

Breach lookaheadKnowsItsEnd(const Config& config, const Setup&) {
  if (knowsItsEnd(config) || config.step.lookaheadPower == 0) return std::nullopt;
  return concat("--lookahead-power=", config.step.lookaheadPower,
                " needs --steps: the decay grows up to the last step, as --steps=1000");
}

Breach frozenBodyIsTrained(const Config& config, const Setup& setup) {
  if (!setup.frozen->allButHead || !config.network.weights.empty()) return std::nullopt;
  return concat(
      "--frozen=", config.step.frozen,
      " keeps all but the classifier as it is, which without --weights are random values; give --weights=FILE");
}

constexpr Breach (*updateRules[])(const Config&, const Setup&) = {
    coefficientsAreUsed, scheduleKnowsItsEnd,         scheduleHasEpochs,      scheduleHasItsFalls,
    courseIsUsed,        gradientsAreClippedTogether, averageIsOfOneTraining, thereIsOneAverage,
    lookaheadIsUsed,     lookaheadKnowsItsEnd,        frozenBodyIsTrained,
};

}  // namespace

void checkUpdate(const Config& config, const Setup& setup) { requireAll(updateRules, config, setup); }

}  // namespace tandem
