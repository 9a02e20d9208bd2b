#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/mutex.h"
#include "trace/span.h"

namespace tandem {

/// What the threads of one process wait on: a counter of changes, and an abort that ends every wait.
///
/// A thread that changes shared state calls notify(). A thread that needs a state calls waitUntil(ready). With `block`
/// the wait sleeps, for replicas that share cores; otherwise it spins and yields. After abort() every wait throws
/// PeerError with the reason that was given first. All methods may be called from any thread.
class Monitor {
 public:
  explicit Monitor(bool block) : block_(block) {}

  void notify() noexcept {
    version_.fetch_add(1, std::memory_order_release);
    if (block_) version_.notify_all();
  }

  /// Calls `ready` until it returns true. `ready` may do work meanwhile (cooperative progress).
  template <class Ready>
  void waitUntil(Ready ready) {
    const Span waiting(SpanKind::wait);
    for (uint32_t turn = 0;; ++turn) {
      const uint32_t seen = version_.load(std::memory_order_acquire);
      throwIfAborted();
      if (ready()) return;
      pause(turn, seen);
    }
  }

  /// As waitUntil() for a condition that no notify() announces, such as the end of a device's work.
  template <class Ready>
  void poll(Ready ready) {
    for (uint32_t turn = 0;; ++turn) {
      throwIfAborted();
      if (ready()) return;
      rest(turn);
    }
  }

  /// Registers `end` before the run. It must end waits inside a library that knows no monitor. The first abort() calls
  /// it once, on its own thread. REQUIRES: it does not throw.
  void onAbort(std::function<void()> end);

  void abort(const std::string& reason) noexcept;
  bool aborted() const noexcept { return aborted_.load(std::memory_order_acquire); }
  bool blocks() const noexcept { return block_; }

  /// Throws PeerError if abort() was called.
  void throwIfAborted() const;

 private:
  void pause(uint32_t turn, uint32_t seen) noexcept;
  void rest(uint32_t turn) const noexcept;

  const bool block_;
  std::atomic<uint32_t> version_{0};
  std::atomic<bool> aborted_{false};
  mutable Mutex mutex_;
  std::string reason_ TANDEM_GUARDED_BY(mutex_);
  std::vector<std::function<void()>> ends_ TANDEM_GUARDED_BY(mutex_);
};

/// A barrier for `parties` threads. An abort of the monitor breaks it.
class Barrier {
 public:
  Barrier(Monitor& monitor, int parties) : monitor_(monitor), parties_(parties) {}
  void arriveAndWait();

 private:
  Monitor& monitor_;
  const int parties_;
  std::atomic<int64_t> arrived_{0};
};

}  // namespace tandem
