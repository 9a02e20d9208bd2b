#include "measure/profile/gpu_timeline.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tandem {
namespace {

constexpr size_t mostGaps = 16;

using Activities = std::vector<const DeviceActivity*>;

template <class Activity>
std::vector<Activity*> inOrder(std::span<Activity> activities, std::optional<int> device = {}) {
  std::vector<Activity*> ordered;
  for (Activity& activity : activities) {
    if (!device || activity.device == *device) ordered.push_back(&activity);
  }
  std::ranges::stable_sort(ordered, {}, &DeviceActivity::begin);
  return ordered;
}

Nanos durationOf(const DeviceActivity& activity) { return std::max(activity.end - activity.begin, Nanos{}); }

/// REQUIRES: `ordered` is sorted by begin.
std::optional<Nanos> beginOf(const Activities& ordered, int64_t step) {
  const auto first = std::ranges::find(ordered, step, &DeviceActivity::step);
  return first == ordered.end() ? std::nullopt : std::optional((*first)->begin);
}

/// Distributes the work of an operation over its activities.
class SpreadWork {
 public:
  SpreadWork(const Activities& activities, std::span<const OpDemand> works) : works_(works) {
    for (const DeviceActivity* activity : activities) {
      if (knows(*activity)) time_[{activity->step, activity->operation}] += durationOf(*activity);
    }
  }

  bool knows(const DeviceActivity& activity) const {
    return activity.step >= 0 && activity.operation >= 0 && static_cast<size_t>(activity.operation) < works_.size();
  }
  const OpDemand& workOf(const DeviceActivity& activity) const {
    return works_[static_cast<size_t>(activity.operation)];
  }
  /// The activity's share of the operation's work in the step, 0 to 1.
  double shareOf(const DeviceActivity& activity) const {
    const double all = seconds(time_.at({activity.step, activity.operation}));
    return all > 0 ? seconds(durationOf(activity)) / all : 0;
  }

 private:
  std::span<const OpDemand> works_;
  std::map<std::pair<int64_t, int64_t>, Nanos> time_;  // time by step and operation
};

void count(WorkGroup& group, const DeviceActivity& activity, const SpreadWork& work) {
  const Nanos time = durationOf(activity);
  ++group.calls;
  group.time += time;
  group.bytes += static_cast<double>(activity.bytes);
  const bool planned = work.knows(activity);
  if (planned || activity.bytes > 0) group.knownTime += time;
  if (!planned) return;
  const OpDemand& own = work.workOf(activity);
  const double share = work.shareOf(activity);
  group.flops += share * own.flops;
  if (activity.bytes == 0) group.bytes += share * own.bytes;
  const auto place = std::ranges::lower_bound(group.operations, own.name);
  if (place == group.operations.end() || *place != own.name) group.operations.insert(place, own.name);
}

using Groups = std::map<std::string, WorkGroup>;

std::vector<WorkGroup> largestFirst(Groups&& groups) {
  std::vector<WorkGroup> sorted;
  for (auto& [name, group] : groups) {
    group.name = name;
    sorted.push_back(std::move(group));
  }
  std::ranges::stable_sort(sorted, std::ranges::greater{}, &WorkGroup::time);
  return sorted;
}

struct Window {
  Nanos begin, end;
  bool holds(const DeviceActivity& activity) const { return activity.begin >= begin && activity.begin < end; }
};

/// All gaps of the window. An activity begins at either end of the window.
std::vector<DeviceGap> gapsOf(const Activities& ordered, Window window) {
  std::map<std::pair<std::string, std::string>, DeviceGap> gaps;
  const DeviceActivity* last = nullptr;  // the activity that ends last among those that have begun
  Nanos until = window.begin;
  for (const DeviceActivity* next : ordered) {
    if (next->begin > window.end) break;
    if (last != nullptr && next->begin > until) {
      DeviceGap& gap = gaps[{last->name, next->name}];
      ++gap.count;
      gap.total += next->begin - until;
      gap.longest = std::max(gap.longest, next->begin - until);
    }
    // Activities of several streams overlap, so the one that began last need not be the one that ends last.
    if (last == nullptr || next->end > last->end) last = next;
    until = std::max(until, next->end);
  }
  std::vector<DeviceGap> sorted;
  for (auto& [names, gap] : gaps) {
    gap.after = names.first, gap.before = names.second;
    sorted.push_back(std::move(gap));
  }
  std::ranges::stable_sort(sorted, std::ranges::greater{}, &DeviceGap::total);
  return sorted;
}

}  // namespace

void adoptSteps(std::span<DeviceActivity> activities) {
  std::map<int, int64_t> steps;  // step of the last call, by device
  for (DeviceActivity* activity : inOrder(activities)) {
    const auto last = steps.find(activity->device);
    if (activity->inGraph) {
      if (last != steps.end()) activity->step = last->second;
    } else if (activity->step >= 0) {
      steps[activity->device] = activity->step;
    }
  }
}

void adoptOperations(std::span<DeviceActivity> activities, std::span<const DeviceActivity> eager) {
  std::map<std::string, std::vector<int64_t>> operations;
  for (const DeviceActivity* activity : inOrder(eager)) operations[activity->name].push_back(activity->operation);
  std::map<std::pair<int, int64_t>, std::map<std::string, std::vector<DeviceActivity*>>> steps;
  for (DeviceActivity* activity : inOrder(activities)) {
    if (activity->step >= 0) steps[{activity->device, activity->step}][activity->name].push_back(activity);
  }
  for (auto& [step, names] : steps) {
    for (auto& [name, same] : names) {
      const auto known = operations.find(name);
      // With another count the order no longer says which activity is which.
      if (known == operations.end() || known->second.size() != same.size()) continue;
      for (size_t i = 0; i < same.size(); ++i) {
        if (same[i]->operation < 0) same[i]->operation = known->second[i];
      }
    }
  }
}

std::optional<GpuTimeline> gpuTimeline(std::span<const DeviceActivity> activities, int device, TracedSteps steps,
                                       std::span<const OpDemand> works) {
  const Activities ordered = inOrder(activities, device);
  const auto begin = beginOf(ordered, steps.first), end = beginOf(ordered, steps.end);
  if (!begin || !end || *end <= *begin) return std::nullopt;
  const Window window{*begin, *end};
  const SpreadWork work(ordered, works);
  Groups kernels, operations;
  for (const DeviceActivity* activity : ordered) {
    if (!window.holds(*activity)) continue;
    count(kernels[activity->name], *activity, work);
    count(operations[work.knows(*activity) ? work.workOf(*activity).name : ""], *activity, work);
  }
  GpuTimeline found{.device = device, .steps = steps.end - steps.first, .wall = *end - *begin};
  found.kernels = largestFirst(std::move(kernels));
  found.operations = largestFirst(std::move(operations));
  found.gaps = gapsOf(ordered, window);
  found.busy = found.wall;
  for (const DeviceGap& gap : found.gaps) found.busy -= gap.total;
  found.gaps.resize(std::min(found.gaps.size(), mostGaps));
  return found;
}

}  // namespace tandem
