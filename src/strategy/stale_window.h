#pragma once

#include <cstdint>
#include <vector>

#include "strategy/strategy.h"

namespace tandem {

/// How far workers that update one server may be apart (stale synchronous parallel: Ho et al. 2013, "More effective
/// distributed ML via a stale synchronous parallel parameter server").
///
/// A worker pulls weights, and then pushes their gradient, which is an update. In a synchronous run all pull, then they
/// push in the order of their numbers: that is a round. Here, with a bound of N rounds,
/// - weights for a worker's round t hold all updates of rounds before t - N, and none of a round after t + N;
/// - an update is made at most N rounds before its turn: all are made whose turn is N rounds earlier or more.
/// So no worker begins a round when another has more than N to make before, and 0 is the order of a synchronous run.
///
/// For one thread at a time.
class StaleWindow {
 public:
  /// REQUIRES: workers > 0, bound >= 0.
  StaleWindow(int workers, int64_t bound) : workers_(static_cast<size_t>(workers)), bound_(bound) {}

  /// Whether the worker's next pull, or push, keeps to the bound. They take turns, a pull first.
  bool mayPull(int worker) const;
  bool mayPush(int worker) const;
  /// REQUIRE: it may.
  void pulled(int worker);
  /// `updates`: false if the gradient was no number, so that the push changes nothing.
  void pushed(int worker, bool updates);

  int64_t pushes(int worker) const { return workers_[static_cast<size_t>(worker)].pushes; }
  int64_t updates() const { return staleness_.updates; }
  /// The worker with the fewest pushes, the first of equals.
  int slowest() const;
  const Staleness& staleness() const { return staleness_; }

 private:
  struct Worker {
    int64_t pulls = 0, pushes = 0;
    int64_t version = 0;  // updates that were made before its last pull
  };
  std::vector<Worker> workers_;
  const int64_t bound_;
  Staleness staleness_;
};

}  // namespace tandem
