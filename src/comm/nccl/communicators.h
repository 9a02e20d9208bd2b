#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "comm/nccl/registered_memory.h"

namespace tandem {

/// One replica's end of a library of collectives: NCCL's communicator, or a test's stand-in.
class Communicator {
 public:
  virtual ~Communicator() = default;
  /// Whether its device still has work of the communicator, which may never end.
  virtual bool hasWork() noexcept = 0;
  /// Ends that work, and the communicator. Once.
  virtual void abort() noexcept = 0;
  virtual RegisteredMemory& memory() = 0;
};

/// The communicators of all replicas of a process, which end together: what is registered is withdrawn while nobody has
/// work, then every communicator is aborted, and only then memory is released, because the others' devices read it too.
class Communicators {
 public:
  /// One per replica.
  explicit Communicators(std::vector<std::unique_ptr<Communicator>> all);
  /// REQUIRES: nobody is in use().
  ~Communicators();
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;

  /// A call to the library for `rank`, on its replica's thread. Throws PeerError after abort().
  template <class Call>
  auto use(size_t rank, Call call) {
    Seat& seat = seats_.at(rank);
    const std::lock_guard lock(seat.inUse);
    requireAlive();
    return call();
  }

  /// Begins to end all work, so that no device waits for a replica that failed. The end itself waits for those who are
  /// in use(), and NCCL's for the recorded work of all communicators to be destroyed too: so it is on a thread of its
  /// own, which the destructor joins. From any thread.
  void abort() noexcept;

 private:
  struct Seat {
    std::unique_ptr<Communicator> communicator;
    std::mutex inUse;
    bool ended = false;
  };
  void requireAlive() const;
  void withdrawAll();
  void endAll() noexcept;

  std::vector<Seat> seats_;
  std::atomic<bool> aborted_{false};
  std::thread ender_;
};

}  // namespace tandem
