#pragma once

#include <condition_variable>
#include <cstddef>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "measure/profile/telemetry.h"
#include "observe/probe.h"

namespace tandem {

/// A thread that reads probes at regular times, from construction until finish(). It also watches itself: a late
/// wake-up shows that the process was stopped. Any thread may call any method.
class Sampler {
 public:
  /// Wakes every `tick` to detect stops and samples at every fifth wake-up. It halves the sampling rate whenever a
  /// record would grow too long. Without probes it takes no samples.
  explicit Sampler(Probes probes, Nanos tick = std::chrono::milliseconds(50));
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  /// Starts a phase of the run.
  void enter(const std::string& phase);
  /// The delays of wake-ups since the previous call, summed. One below 0.1 s does not count: waiting for a CPU takes as
  /// long.
  Nanos takeStopped();
  /// Energy of all metered devices so far. Empty without a meter.
  std::optional<double> joules();
  /// Ends the sampling. After it, only the destructor may be called.
  Telemetry finish();

 private:
  void loop();
  /// How long the process stood still since a wake of the thread.
  Nanos stopIn(Nanos sinceWake) const;
  void sample(Nanos time) TANDEM_REQUIRES(mutex_);
  void thin() TANDEM_REQUIRES(mutex_);
  void stop();

  Probes probes_;
  std::vector<size_t> counts_;  // number of quantities of each probe
  const Nanos tick_, begin_;
  Mutex mutex_;
  std::condition_variable_any changed_;
  bool stopping_ TANDEM_GUARDED_BY(mutex_) = false;
  Telemetry telemetry_ TANDEM_GUARDED_BY(mutex_);
  Nanos interval_ TANDEM_GUARDED_BY(mutex_), woke_ TANDEM_GUARDED_BY(mutex_);
  Nanos stopped_ TANDEM_GUARDED_BY(mutex_){};
  std::thread thread_;
};

}  // namespace tandem
