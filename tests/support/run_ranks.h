#pragma once

#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "comm/listener.h"
#include "comm/world.h"

namespace tandem {

/// Where the ranks of a test meet. Threads stand in for processes.
class MeetingPlace {
 public:
  explicit MeetingPlace(int size) : store_(serveRanks(loopbackListener())), size_(size) {}
  RankPlace of(int rank) const { return placeOnOneHost(rank, size_, store_->port()); }
  int size() const { return size_; }

 private:
  std::unique_ptr<RankStore> store_;
  int size_;
};

/// Runs fn(world) on a thread for each rank and joins them. The first failure in time is rethrown.
inline void runRanks(const MeetingPlace& place, double timeoutSeconds, const std::function<void(World&)>& fn) {
  std::once_flag once;
  std::exception_ptr first;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < place.size(); ++rank) {
    threads.emplace_back([&, rank] {
      try {
        fn(*meetRanks(place.of(rank), timeoutSeconds));
      } catch (const std::exception&) {
        std::call_once(once, [&] { first = std::current_exception(); });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

inline void runRanks(int size, const std::function<void(World&)>& fn) { runRanks(MeetingPlace(size), 20, fn); }

}  // namespace tandem
