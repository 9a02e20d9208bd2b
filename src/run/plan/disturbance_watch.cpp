#include "run/plan/disturbance_watch.h"

#include <utility>

#include "machine/cpu/system_counters.h"

namespace tandem {

DisturbanceWatch::DisturbanceWatch(std::vector<int> cpus) : cpus_(std::move(cpus)), begin_(readCounters(cpus_)) {}

std::vector<std::string> DisturbanceWatch::take() {
  WindowCounters window;
  window.begin = std::exchange(begin_, readCounters(cpus_));
  window.end = begin_;
  window.cpus = static_cast<int64_t>(cpus_.size());
  return findInterference(window).reasons;
}

}  // namespace tandem
