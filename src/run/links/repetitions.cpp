#include "run/links/repetitions.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>

#include "base/clock.h"

namespace tandem {
namespace {

constexpr double repetitionSeconds = 1e-3;
constexpr int64_t mostCalls = 10'000;
constexpr int trials = 3;

struct alignas(64) Slot {
  double value = 0;
};

/// What the threads of a transfer share.
struct Meeting {
  Meeting(Monitor& monitor, int count) : barrier(monitor, count), slots(static_cast<size_t>(count)) {}
  Barrier barrier;
  std::vector<Slot> slots;
};

class ThreadParty final : public Parties {
 public:
  ThreadParty(std::shared_ptr<Meeting> meeting, size_t own) : meeting_(std::move(meeting)), own_(own) {}

  // The second wait keeps the values until all have read them.
  double largest(double mine) override {
    meeting_->slots[own_].value = mine;
    meeting_->barrier.arriveAndWait();
    const double most = std::ranges::max(meeting_->slots, {}, &Slot::value).value;
    meeting_->barrier.arriveAndWait();
    return most;
  }

 private:
  std::shared_ptr<Meeting> meeting_;
  size_t own_;
};

}  // namespace

std::vector<std::unique_ptr<Parties>> threadParties(Monitor& monitor, int count) {
  const auto meeting = std::make_shared<Meeting>(monitor, count);
  std::vector<std::unique_ptr<Parties>> parties;
  for (int i = 0; i < count; ++i) parties.push_back(std::make_unique<ThreadParty>(meeting, static_cast<size_t>(i)));
  return parties;
}

void onThreads(Monitor& monitor, int parties, const std::function<void(int)>& fn) {
  std::once_flag once;
  std::exception_ptr first;
  const auto guarded = [&](const auto& action) {
    try {
      action();
    } catch (const std::exception& failure) {
      std::call_once(once, [&] { first = std::current_exception(); });
      monitor.abort(failure.what());
    }
  };
  std::vector<std::jthread> threads;
  guarded([&] {  // the system may refuse a thread
    for (int party = 0; party < parties; ++party) {
      threads.emplace_back([&, party] { guarded([&] { fn(party); }); });
    }
  });
  threads.clear();  // joins
  if (first) std::rethrow_exception(first);
}

int64_t callsPerRepetition(double once) {
  if (once <= 0) return mostCalls;
  return static_cast<int64_t>(std::clamp(std::ceil(repetitionSeconds / once), 1.0, static_cast<double>(mostCalls)));
}

LinkTimes timesOf(Parties& parties, const RepetitionLimits& limits, const Transfer& transfer) {
  parties.largest(transfer(1));
  LinkTimes times;
  double quickest = parties.largest(transfer(1));
  for (int i = 1; i < trials; ++i) quickest = std::min(quickest, parties.largest(transfer(1)));
  times.calls = callsPerRepetition(quickest);
  const Nanos begin = now();
  // Each party sees the same values, so that all of them stop after the same repetition.
  while (std::ssize(times.seconds) < fewestRepetitions ||
         (std::ssize(times.seconds) < limits.most && parties.largest(seconds(now() - begin)) < limits.seconds)) {
    times.seconds.push_back(parties.largest(transfer(times.calls)) / static_cast<double>(times.calls));
  }
  return times;
}

}  // namespace tandem
