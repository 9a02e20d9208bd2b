#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "train/replica_set.h"

namespace tandem {

/// Why a training ends before its last step.
enum class StopReason { none, signal, maxTime, notFinite };

/// What TrainingRecord::ended says of it.
std::string_view nameOf(StopReason reason);

/// SIGTERM, SIGINT, SIGHUP and SIGUSR1 ask the trainings of this process to end. Until the process ends.
void stopTrainingOnSignals();

/// By which all replicas of all ranks end a training after the same step. They talk about every half second: more often
/// it would cost, and a scheduler gives at least some seconds. Between two talks replicas only meet as their strategy
/// makes them.
class StopAgreement {
 public:
  /// `maxTime`: seconds from `begin` on; 0: no limit. `world`: of the ranks; null: there is this one.
  StopAgreement(World* world, double maxTime, Nanos begin) : world_(world), maxTime_(maxTime), begin_(begin) {}

  /// The next talk is before step `step`. Called by member 0, before a barrier.
  void begin(int64_t step) { next_ = step, talkedAt_ = now(), talkedStep_ = step; }
  bool isDue(int64_t step) const { return step >= next_; }

  /// Says whether all losses of this member were finite since the last talk, and hears what all decide. Collective, on
  /// each member's thread, before step `step`.
  void talk(ReplicaSet::Member& member, int64_t step, bool lossesAreFinite);

  /// What was decided; the same for all members.
  StopReason reason() const { return reason_; }
  /// After a loss that was not finite the training goes on. Called by member 0, before a barrier.
  void goOn() { reason_ = StopReason::none; }
  /// Whether this rank would have the training end, for what must not last long. Any thread may call it.
  bool isWanted() const { return wish() != StopReason::none; }
  /// All ranks say whether one would, and then the training ends. Called by member 0 of each, before a barrier.
  bool endIfWanted();

 private:
  /// What this rank would have.
  StopReason wish() const;
  /// The reason becomes the weightiest of all ranks' wishes. Returns the steps that rank 0 says.
  int64_t exchangeWishes(int64_t steps);
  /// Exchanges wishes before step `step`, and when the next talk is.
  void decide(int64_t step);

  World* const world_;
  const double maxTime_;
  const Nanos begin_;
  std::atomic<bool> allFinite_{true};
  // Written by member 0 alone, with a barrier before others read them.
  int64_t next_ = 0, talkedStep_ = 0;
  Nanos talkedAt_{};
  StopReason reason_ = StopReason::none;
};

}  // namespace tandem
