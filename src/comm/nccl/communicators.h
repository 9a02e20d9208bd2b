#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "comm/nccl/registered_memory.h"

namespace tandem {

/// One replica's handle of a collectives library: NCCL's communicator, or a test's substitute.
class Communicator {
 public:
  virtual ~Communicator() = default;
  /// Whether its device still has unfinished work of the communicator. Such work may never end.
  virtual bool hasWork() noexcept = 0;
  /// Ends that work and the communicator. Called once.
  virtual void abort() noexcept = 0;
  virtual RegisteredMemory& memory() = 0;
};

/// The communicators of all replicas of a process, which end together. First registrations are withdrawn while nobody
/// has work, then every communicator is aborted. Memory is released last, because the other devices read it too.
class Communicators {
 public:
  /// One per replica.
  explicit Communicators(std::vector<std::unique_ptr<Communicator>> all);
  /// REQUIRES: no thread is in use().
  ~Communicators();
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;

  /// Calls the library for `rank`, on its replica's thread. Throws PeerError after abort().
  template <class Call>
  auto use(size_t rank, Call call) {
    Seat& seat = seats_.at(rank);
    const MutexLock lock(seat.inUse);
    requireAlive();
    return call();
  }

  /// Begins to end all work, so that no device waits for a failed replica. The end waits for threads in use(). NCCL
  /// also waits until the captured graphs of all communicators are destroyed. So a thread of its own does it; the
  /// destructor joins it. May be called from any thread.
  void abort() noexcept;

 private:
  struct Seat {
    void end() noexcept TANDEM_REQUIRES(inUse) {
      if (!std::exchange(ended, true)) communicator->abort();
    }

    std::unique_ptr<Communicator> communicator;
    Mutex inUse;
    bool ended TANDEM_GUARDED_BY(inUse) = false;
  };
  void requireAlive() const;
  void withdrawAll();
  void endAll() noexcept;

  std::vector<Seat> seats_;
  std::atomic<bool> aborted_{false};
  std::thread ender_;
};

}  // namespace tandem
