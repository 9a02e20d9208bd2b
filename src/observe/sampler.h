#pragma once

#include <condition_variable>
#include <cstddef>
#include <optional>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "machine/process/queue_clock.h"
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

  /// Starts a phase of the run. A phase that is on already goes on.
  void enter(const std::string& phase);
  /// How long the process stood still since the previous call: the delays of wake-ups, without the time in which the
  /// thread waited for a CPU. Delays below 10 ms do not count, those below 0.1 s where the system does not tell that
  /// time.
  Nanos takeStopped();
  /// Energy of all metered devices so far. Empty without a meter.
  std::optional<double> joules();
  /// Ends the sampling. After it, only the destructor may be called.
  Telemetry finish();

 private:
  void loop();
  /// How long the process stood still since the thread went to sleep.
  Nanos stopInSleep() const TANDEM_REQUIRES(mutex_);
  void beginSleep() TANDEM_REQUIRES(mutex_);
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
  Nanos interval_ TANDEM_GUARDED_BY(mutex_);
  std::optional<QueueClock> queue_ TANDEM_GUARDED_BY(mutex_);  // of the thread
  Nanos asleepSince_ TANDEM_GUARDED_BY(mutex_);
  std::optional<Nanos> queuedBefore_ TANDEM_GUARDED_BY(mutex_);  // that sleep
  Nanos stopped_ TANDEM_GUARDED_BY(mutex_){};
  std::thread thread_;
};

}  // namespace tandem
