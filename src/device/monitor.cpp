#include "device/monitor.h"

#include <chrono>
#include <thread>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tandem {
namespace {

constexpr uint32_t turnsBeforeYield = 256;
constexpr auto blockedPoll = std::chrono::microseconds(50);

void relax() noexcept {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

}  // namespace

void Monitor::onAbort(std::function<void()> end) {
  const MutexLock lock(mutex_);
  ends_.push_back(std::move(end));
}

// The handlers run without the lock, because they wait inside other libraries. Each runs once: the first abort takes
// them all.
void Monitor::abort(const std::string& reason) noexcept {
  std::vector<std::function<void()>> ends;
  {
    const MutexLock lock(mutex_);
    if (!aborted_.load()) reason_ = reason;
    aborted_.store(true, std::memory_order_release);
    ends.swap(ends_);
  }
  version_.fetch_add(1, std::memory_order_release);
  version_.notify_all();
  for (const auto& end : ends) end();
}

void Monitor::throwIfAborted() const {
  if (!aborted()) return;
  const MutexLock lock(mutex_);
  throw PeerError(reason_);
}

// `seen` was read before ready() was asked. If a notify() came in between, the version differs and wait() returns.
void Monitor::pause(uint32_t turn, uint32_t seen) noexcept {
  if (block_) {
    version_.wait(seen, std::memory_order_acquire);
  } else {
    rest(turn);
  }
}

// Spin first, since most waits are short. Then leave the core to others: sleep if replicas share cores, else yield.
void Monitor::rest(uint32_t turn) const noexcept {
  if (turn < turnsBeforeYield) {
    relax();
  } else if (block_) {
    std::this_thread::sleep_for(blockedPoll);
  } else {
    std::this_thread::yield();
  }
}

// Arrivals are never reset: the ticket says which use of the barrier this is, so it can be reused at once.
void Barrier::arriveAndWait() {
  const int64_t ticket = arrived_.fetch_add(1, std::memory_order_acq_rel);
  const int64_t round = ticket / parties_ + 1;
  monitor_.notify();
  monitor_.waitUntil([&] { return arrived_.load(std::memory_order_acquire) >= round * parties_; });
}

}  // namespace tandem
