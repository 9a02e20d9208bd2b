#include "observe/sampler.h"

#include <time.h>

#include <algorithm>
#include <utility>

namespace tandem {
namespace {

constexpr int ticksPerSample = 5;
constexpr Nanos shortestStop = std::chrono::milliseconds(10);
constexpr Nanos shortestDelay = std::chrono::milliseconds(100);  // that counts as a stop where it may be a queue
constexpr size_t mostSamples = 400;                              // in a record; a longer run is sampled more coarsely

Nanos cpuTimeOfThisThread() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + Nanos(time.tv_nsec);
}

/// Keeps every second value.
template <class Value>
void halve(std::vector<Value>& values) {
  size_t kept = 0;
  for (size_t i = 0; i < values.size(); i += 2) values[kept++] = values[i];
  values.resize(kept);
}

}  // namespace

Sampler::Sampler(Probes probes, Nanos tick)
    : probes_(std::move(probes)), tick_(tick), begin_(now()), interval_(ticksPerSample * tick), asleepSince_(begin_) {
  for (const auto& probe : probes_) {
    auto quantities = probe->quantities();
    counts_.push_back(quantities.size());
    for (Quantity& quantity : quantities) {
      telemetry_.series.push_back({std::move(quantity.device), std::move(quantity.name), std::move(quantity.unit), {}});
    }
  }
  thread_ = std::thread([this] { loop(); });
}

Sampler::~Sampler() { stop(); }

void Sampler::loop() {
  MutexLock lock(mutex_);
  queue_.emplace();
  Nanos due{};
  while (!stopping_) {
    const Nanos time = now() - begin_;
    if (!probes_.empty() && time >= due) {
      sample(time);
      due = time + interval_;
    }
    telemetry_.cpu = cpuTimeOfThisThread();
    beginSleep();
    changed_.wait_for(lock, tick_, [this]() TANDEM_REQUIRES(mutex_) { return stopping_; });
    stopped_ += stopInSleep();
  }
}

void Sampler::sample(Nanos time) {
  if (telemetry_.at.size() >= mostSamples) thin();
  telemetry_.at.push_back(time);
  size_t next = 0;
  for (size_t i = 0; i < probes_.size(); ++i) {
    std::vector<double> values(counts_[i]);
    probes_[i]->read(values);
    for (const double value : values) telemetry_.series[next++].values.push_back(value);
  }
}

void Sampler::thin() {
  halve(telemetry_.at);
  for (TelemetrySeries& series : telemetry_.series) halve(series.values);
  interval_ *= 2;
}

void Sampler::enter(const std::string& phase) {
  const MutexLock lock(mutex_);
  if (!telemetry_.phases.empty() && telemetry_.phases.back().name == phase) return;
  telemetry_.phases.push_back({phase, now() - begin_});
}

void Sampler::beginSleep() {
  asleepSince_ = now();
  queuedBefore_ = queue_->waited();
}

Nanos Sampler::stopInSleep() const {
  const Nanos delay = now() - asleepSince_ - tick_;
  const auto queued = queuedBefore_ ? queue_->waited() : std::nullopt;
  if (!queued) return delay < shortestDelay ? Nanos{} : delay;
  const Nanos stop = delay - (*queued - *queuedBefore_);
  return stop < shortestStop ? Nanos{} : stop;
}

// The thread holds the mutex except while it sleeps, and may be in a stop at this moment.
Nanos Sampler::takeStopped() {
  const MutexLock lock(mutex_);
  Nanos stopped = std::exchange(stopped_, Nanos{});
  if (queue_) {
    stopped += stopInSleep();
    beginSleep();
  }
  return stopped;
}

std::optional<double> Sampler::joules() {
  const MutexLock lock(mutex_);
  std::optional<double> sum;
  for (const auto& probe : probes_) {
    if (const auto taken = probe->joules()) sum = sum.value_or(0) + *taken;
  }
  return sum;
}

void Sampler::stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Telemetry Sampler::finish() {
  stop();
  const MutexLock lock(mutex_);
  return std::move(telemetry_);
}

}  // namespace tandem
