#include <utility>

#include "base/text.h"
#include "run/plan/rule_check.h"
#include "run/plan/rules.h"

namespace tandem {
namespace {

Breach coefficientsAreUsed(const Config& config, const Setup& setup) {
  constexpr std::pair<double Config::Step::*, std::string_view> betas[] = {
      {&Config::Step::adamBeta1, "--adam-beta1"},
      {&Config::Step::adamBeta2, "--adam-beta2"},
      {&Config::Step::adamEpsilon, "--adam-epsilon"}};
  const auto refuse = [&](std::string_view option, bool OptimizerEntry::*users) {
    return concat(option, " does nothing with --optimizer=", config.step.optimizer, "; only ",
                  thoseWith("--optimizer", optimizers(), users), " use it");
  };
  const bool momentum = setup.optimizer->usesMomentum;
  if (!momentum && config.step.nesterov) return refuse("--nesterov", &OptimizerEntry::usesMomentum);
  if (!momentum && config.step.momentum != Config().step.momentum)
    return refuse("--momentum", &OptimizerEntry::usesMomentum);
  for (const auto& [field, option] : betas) {
    const bool changed = config.step.*field != Config().step.*field;
    if (changed && !setup.optimizer->usesBetas) return refuse(option, &OptimizerEntry::usesBetas);
  }
  return std::nullopt;
}

Breach scheduleKnowsItsEnd(const Config& config, const Setup& setup) {
  const bool known = config.measurement.steps > 0 || config.training.epochs > 0;
  if (known || !setup.schedule->needsTotal) return std::nullopt;
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

/// An option of the course that differs from its default.
struct CourseOption {
  std::string_view name;
  bool changed;
  bool ScheduleEntry::*users;
};

Breach courseIsUsed(const Config& config, const Setup& setup) {
  const Config::Training& own = config.training;
  const Config::Training usual;
  const CourseOption options[] = {
      {"--lr-steps", own.lrSteps != usual.lrSteps, &ScheduleEntry::usesFalls},
      {"--lr-factor", own.lrFactor != usual.lrFactor, &ScheduleEntry::usesFactor},
      {"--lr-power", own.lrPower != usual.lrPower, &ScheduleEntry::usesPower},
      {"--lr-end", own.lrEnd != usual.lrEnd, &ScheduleEntry::usesEnd},
      {"--patience", own.patience != usual.patience, &ScheduleEntry::followsLoss},
  };
  for (const CourseOption& option : options) {
    if (!option.changed || setup.schedule->*option.users) continue;
    return concat(option.name, " does nothing with --schedule=", config.step.schedule, "; only ",
                  thoseWith("--schedule", schedules(), option.users), " use it");
  }
  return std::nullopt;
}

constexpr Breach (*updateRules[])(const Config&, const Setup&) = {
    coefficientsAreUsed, scheduleKnowsItsEnd, scheduleHasEpochs, scheduleHasItsFalls, courseIsUsed,
};

}  // namespace

void checkUpdate(const Config& config, const Setup& setup) { requireAll(updateRules, config, setup); }

}  // namespace tandem
