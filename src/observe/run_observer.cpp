#include "observe/run_observer.h"

#include <sched.h>

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"
#include "machine/cpu/host_facts.h"
#include "machine/cpu/system_counters.h"
#include "measure/metrics/metric.h"
#include "observe/host_probe.h"
#include "observe/nvml_probe.h"

namespace tandem {
namespace {

constexpr const char *warmUp = "warm-up", *end = "end";

std::vector<int> allowedCpus() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
  }
  return cpus;
}

/// The CPUs that replicas are pinned to; with GPUs, all CPUs of the process.
std::vector<int> cpusOf(const CorePlan& cores) {
  std::vector<int> cpus;
  for (const auto& threads : cores.threadsOf) cpus.insert(cpus.end(), threads.begin(), threads.end());
  if (cpus.empty()) return allowedCpus();
  std::ranges::sort(cpus);
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

Probes probesOf(const std::vector<int>& cpus, std::span<const int> gpus, std::vector<int> processes) {
  Probes probes;
  if (processes.empty()) return probes;
  probes.push_back(hostProbe(cpus, std::move(processes)));
  if (auto probe = nvmlProbe(probedGpus(gpus))) probes.push_back(std::move(probe));
  return probes;
}

}  // namespace

RunObserver::RunObserver(const CorePlan& cores, std::span<const int> gpus, std::vector<GpuUse> before,
                         std::vector<int> processes)
    : cpus_(cpusOf(cores)),
      processes_(std::move(processes)),
      sampler_(probesOf(cpus_, gpus, processes_)),
      before_(std::move(before)) {
  window_.cpus = static_cast<int64_t>(cpus_.size());
  window_.gpuOthers = largestUse(before_);
}

SystemCounters RunObserver::counters() {
  SystemCounters now = readCounters(cpus_);
  now.joules = sampler_.joules();
  return now;
}

void RunObserver::warmUpBegins() { sampler_.enter(warmUp); }

void RunObserver::windowBegins() {
  if (!processes_.empty() || feeders_) timesBefore_ = processTimes();
  sampler_.enter(trainingPhase);
  window_.begin = counters();
  sampler_.takeStopped();
}

void RunObserver::windowEnds() {
  window_.stopped = sampler_.takeStopped();
  window_.end = counters();
  sampler_.enter(end);
  if (timesBefore_.empty()) return;
  const std::vector<ProcessTime> times = processTimes();
  std::vector<int> own = feeders_ ? feeders_() : std::vector<int>();
  for (const int id : own) feedersPeak_ += memoryField(textOf(concat("/proc/", id, "/status")), "VmHWM");
  if (window_.end.own) *window_.end.own += usedBy(own, timesBefore_, times);
  if (processes_.empty()) return;
  own.insert(own.end(), processes_.begin(), processes_.end());
  if (const auto most = busiest(timesBefore_, times, own)) {
    const Nanos window = window_.end.steady - window_.begin.steady;
    const double cpus = seconds(most->used) / std::max(seconds(window), 1e-3);
    window_.busiest = concat(escaped(most->name), " (pid ", most->id, ", ", fixed(cpus, 2), " CPUs)");
  }
}

Nanos RunObserver::ownTime() const {
  return window_.begin.own && window_.end.own ? *window_.end.own - *window_.begin.own : Nanos{};
}

void RunObserver::ranksUsed(Nanos time) {
  if (window_.begin.own) window_.end.own = *window_.begin.own + time;
}

void RunObserver::fill(RunRecord& record) {
  record.telemetry = sampler_.finish();
  window_.gpuSlowed = slowedShare(record.telemetry, trainingPhase);
  window_.gpuPrograms = otherPrograms(record.telemetry, trainingPhase);
  record.interference = findInterference(window_, metric("spread_percent").of(record, nullptr));
  if (window_.begin.joules && window_.end.joules) record.energyJoules = *window_.end.joules - *window_.begin.joules;
  for (const std::string& line : unequalClocks(record.telemetry, trainingPhase)) record.notes.push_back(line);
  for (const std::string& line : slowdowns(record.telemetry, trainingPhase)) record.notes.push_back(line);
  for (const std::string& line : busyLines(before_)) record.notes.push_back(concat("before the run ", line));
  if (window_.gpuPrograms.value_or(0) > 0) {
    record.notes.push_back(concat(*window_.gpuPrograms,
                                  " other program(s) had a GPU of the run in the measured window; what they used of it "
                                  "cannot be told apart"));
  }
}

}  // namespace tandem
