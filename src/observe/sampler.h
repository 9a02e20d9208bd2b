#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>

#include "measure/profile/telemetry.h"
#include "observe/probe.h"

namespace tandem {

/// A thread that reads probes at regular moments, from construction until finish(). It also watches itself: a wake that
/// comes late shows that the process stood still. All methods may be called from any thread.
class Sampler {
 public:
  /// Wakes every `tick` to see a stall, samples every fifth time, and half as often whenever a record would grow too
  /// long.
  explicit Sampler(Probes probes, Nanos tick = std::chrono::milliseconds(50));
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  /// From now on the run is in this phase.
  void enter(const std::string& phase);
  /// The longest time since the previous call in which the thread did not wake.
  Nanos takeLongestStall();
  /// Energy of all metered devices so far; empty without a meter.
  std::optional<double> joules();
  /// Ends the sampling. Nothing but the destructor may be called afterwards.
  Telemetry finish();

 private:
  void loop();
  void sample(Nanos time);
  void thin();
  void stop();

  Probes probes_;
  std::vector<size_t> counts_;  // quantities of each probe
  const Nanos tick_, begin_;
  std::mutex mutex_;  ///< of all below
  std::condition_variable changed_;
  bool stopping_ = false;
  Telemetry telemetry_;
  Nanos interval_, woke_, longestStall_{};
  std::thread thread_;
};

}  // namespace tandem
