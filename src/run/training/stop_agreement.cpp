#include "run/training/stop_agreement.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "base/number.h"
#include "base/text.h"
#include "comm/world.h"
#include "machine/process/signals.h"

namespace tandem {
namespace {

constexpr double between = 0.5;  // seconds
constexpr int64_t mostSteps = 1000;

std::atomic<bool> asked{false};
static_assert(std::atomic<bool>::is_always_lock_free);

constexpr std::array<std::string_view, 4> names{"", "signal", "max-time", "not-finite"};

}  // namespace

std::string_view nameOf(StopReason reason) { return names.at(static_cast<size_t>(reason)); }

void stopTrainingOnSignals() {
  for (const int signal : trainingSignals) {
    handle(signal, [](int) { asked.store(true); });
  }
}

StopReason StopAgreement::wish() const {
  if (!allFinite_.load()) return StopReason::notFinite;
  if (asked.load()) return StopReason::signal;
  const bool isOver = maxTime_ > 0 && seconds(now() - begin_) >= maxTime_;
  return isOver ? StopReason::maxTime : StopReason::none;
}

// "WISH STEPS". Ranks' clocks differ, so rank 0 says when the next talk is.
int64_t StopAgreement::exchangeWishes(int64_t steps) {
  const std::string own = concat(static_cast<int>(wish()), ' ', steps);
  const auto said = world_ == nullptr ? std::vector{own} : world_->exchange(own);
  int weightiest = 0;
  for (const std::string& text : said) weightiest = std::max(weightiest, numberIn<int>(split(text, " ")[0]).value());
  reason_ = static_cast<StopReason>(weightiest);
  return numberIn<int64_t>(split(said[0], " ")[1]).value();
}

void StopAgreement::decide(int64_t step) {
  const double perStep = seconds(now() - talkedAt_) / static_cast<double>(std::max<int64_t>(1, step - talkedStep_));
  const auto fitting = static_cast<int64_t>(between / std::max(perStep, between / mostSteps));
  next_ = step + exchangeWishes(std::clamp<int64_t>(fitting, 1, mostSteps));
  talkedAt_ = now(), talkedStep_ = step;
  allFinite_.store(true);
}

bool StopAgreement::endIfWanted() {
  exchangeWishes(0);
  return reason_ != StopReason::none;
}

void StopAgreement::talk(ReplicaSet::Member& member, int64_t step, bool lossesAreFinite) {
  if (!lossesAreFinite) allFinite_.store(false);
  member.barrier();
  if (member.index() == 0) decide(step);
  member.barrier();
}

}  // namespace tandem
