#include "optim/optimizer.h"

#include "optim/rules.h"

namespace tandem {
namespace {

constexpr double adamRate = 1e-3;  // of Kingma & Ba 2015, and PyTorch's default

int velocity(const OptimizerOptions& options) { return options.momentum != 0 ? 1 : 0; }
int twoMoments(const OptimizerOptions&) { return 2; }

constexpr OptimizerEntry table[] = {
    {"sgd", "stochastic gradient descent, with --momentum and --nesterov", 0, true, false, velocity, sgdCoefficients,
     makeSgd, makeSgdReference},
    {"adam", "Adam; weight decay is added to the gradient", adamRate, false, true, twoMoments, adamCoefficients,
     makeAdam, makeAdamReference},
    {"adamw", "Adam with weight decay apart from the gradient", adamRate, false, true, twoMoments, adamCoefficients,
     makeAdamW, makeAdamWReference},
};

}  // namespace

std::span<const OptimizerEntry> optimizers() { return table; }

const OptimizerEntry& ruleOf(const OptimizerOptions& options) {
  return options.rule == nullptr ? table[0] : *options.rule;
}

std::unique_ptr<Optimizer> makeOptimizer(FlatBuffers& buffers, const OptimizerOptions& options) {
  return ruleOf(options).make(buffers, options);
}

double OptimizerOptions::rateAt(int64_t update) const {
  const int64_t made = update / updatesPerStep, step = scheduleBegin == nullptr ? made : scheduleBegin->stepOf(made);
  const ScheduleEntry& entry = schedule == nullptr ? schedules().front() : *schedule;
  return learningRate * factorAt(entry, course, step) * (rateFactor == nullptr ? 1 : rateFactor->get());
}

}  // namespace tandem
