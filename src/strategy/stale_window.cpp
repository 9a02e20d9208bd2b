#include "strategy/stale_window.h"

#include <algorithm>

#include "base/error.h"

namespace tandem {

bool StaleWindow::mayPull(int worker) const {
  const int64_t round = workers_[static_cast<size_t>(worker)].pulls;
  return std::ranges::all_of(workers_, [&](const Worker& other) { return other.pushes >= round - bound_; });
}

// Workers of smaller numbers push before this one in each round. That those of larger numbers have pushed in all rounds
// before is known since the pull.
bool StaleWindow::mayPush(int worker) const {
  const auto own = static_cast<size_t>(worker);
  const int64_t round = workers_[own].pushes;
  for (size_t i = 0; i < workers_.size(); ++i) {
    if (i != own && workers_[i].pulls <= round - bound_) return false;
    if (i < own && workers_[i].pushes <= round - bound_) return false;
  }
  return true;
}

void StaleWindow::pulled(int worker) {
  Worker& one = workers_[static_cast<size_t>(worker)];
  check(mayPull(worker) && one.pulls == one.pushes, "a pull that is allowed");
  ++one.pulls;
  one.version = staleness_.updates;
}

void StaleWindow::pushed(int worker, bool updates) {
  Worker& one = workers_[static_cast<size_t>(worker)];
  check(mayPush(worker) && one.pulls == one.pushes + 1, "a push that is allowed");
  ++one.pushes;
  if (!updates) return;
  staleness_.add(staleness_.updates - one.version);
}

int StaleWindow::slowest() const {
  return static_cast<int>(std::ranges::min_element(workers_, {}, &Worker::pushes) - workers_.begin());
}

}  // namespace tandem
