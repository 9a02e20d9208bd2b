#include "strategy/stale_window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/error.h"

namespace tandem {
namespace {

/// What has happened, kept as a list, and the rules of StaleWindow by their words.
class History {
 public:
  History(int workers, int64_t bound) : workers_(workers), bound_(bound) {}

  int64_t pulls(int worker) const { return count(worker, true); }
  int64_t pushes(int worker) const { return count(worker, false); }

  /// Weights of round t hold all updates of rounds before t - N.
  bool mayPull(int worker) const {
    for (int other = 0; other < workers_; ++other) {
      if (pushes(other) < pulls(worker) - bound_) return false;
    }
    return true;
  }

  /// The turn of worker w in round t is t * workers + w. All N rounds earlier have been; and no weights that are pulled
  /// later, for a round more than N before this one, may hold it.
  bool mayPush(int worker) const {
    const int64_t round = pushes(worker);
    for (int other = 0; other < workers_; ++other) {
      const int64_t turns = (round - bound_) * workers_ + worker;
      if (pushes(other) * workers_ + other < turns) return false;
      if (other != worker && pulls(other) <= round - bound_) return false;
    }
    return true;
  }

  void add(int worker, bool pull) { done_.emplace_back(worker, pull); }
  bool pullsNext(int worker) const { return pulls(worker) == pushes(worker); }

  /// Updates between the last pull and now.
  int64_t lacked(int worker) const {
    const auto own = std::find(done_.rbegin(), done_.rend(), std::pair(worker, true));
    return std::count_if(done_.rbegin(), own, [](const auto& each) { return !each.second; });
  }

 private:
  int64_t count(int worker, bool pull) const { return std::ranges::count(done_, std::pair(worker, pull)); }

  const int workers_;
  const int64_t bound_;
  std::vector<std::pair<int, bool>> done_;
};

TEST(StaleWindow, WithoutStalenessIsTheOrderOfASynchronousRun) {
  StaleWindow window(3, 0);
  for (int round = 0; round < 3; ++round) {
    for (const int worker : {2, 0, 1}) {
      for (const int each : {0, 1, 2}) EXPECT_FALSE(window.mayPush(each)) << "before all have pulled";
      ASSERT_TRUE(window.mayPull(worker));
      window.pulled(worker);
    }
    for (const int worker : {0, 1, 2}) {
      for (const int each : {0, 1, 2}) EXPECT_FALSE(window.mayPull(each)) << "before all have pushed";
      for (int later = worker + 1; later < 3; ++later) EXPECT_FALSE(window.mayPush(later));
      ASSERT_TRUE(window.mayPush(worker));
      window.pushed(worker, /*updates=*/true);
    }
  }
  EXPECT_EQ(window.updates(), 9);
  EXPECT_EQ(window.staleness().sum, 3 * (0 + 1 + 2));
  EXPECT_EQ(window.staleness().most, 2);
}

TEST(StaleWindow, AFastWorkerWaitsForTheSlowestAlone) {
  StaleWindow window(2, 2);
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(window.mayPull(0));
    window.pulled(0);
    ASSERT_TRUE(window.mayPush(0));
    window.pushed(0, true);
  }
  ASSERT_TRUE(window.mayPull(0)) << "2 rounds ahead";
  window.pulled(0);
  EXPECT_FALSE(window.mayPush(0)) << "weights of the other's first round would hold an update of the third";
  window.pulled(1);
  EXPECT_TRUE(window.mayPush(0));
  window.pushed(0, true);
  EXPECT_FALSE(window.mayPull(0)) << "3 rounds ahead";
  window.pushed(1, true);
  EXPECT_TRUE(window.mayPull(0));
  EXPECT_EQ(window.slowest(), 1);
  EXPECT_EQ(window.staleness().sum, 0 + 0 + 0 + 1) << "worker 1 pulled behind two updates, and one more came";
}

TEST(StaleWindow, APushWithoutAnUpdateCountsAsATurnOnly) {
  StaleWindow window(2, 1);
  window.pulled(0), window.pulled(1);
  window.pushed(0, /*updates=*/false);
  EXPECT_EQ(window.pushes(0), 1);
  window.pushed(1, true);
  EXPECT_EQ(window.updates(), 1);
  EXPECT_EQ(window.staleness().sum, 0);
}

TEST(StaleWindow, AnythingElseIsABug) {
  StaleWindow window(2, 0);
  EXPECT_THROW(window.pushed(0, true), InternalError) << "without weights";
  window.pulled(0);
  EXPECT_THROW(window.pulled(0), InternalError) << "twice";
}

// Any worker, as often as it may.
TEST(StaleWindow, AllowsWhatItsRulesSayAndNeverStops) {
  std::mt19937 random(7);
  for (const int workers : {1, 2, 3, 5}) {
    for (const int64_t bound : {0, 1, 2, 5}) {
      StaleWindow window(workers, bound);
      History history(workers, bound);
      int64_t sum = 0, most = 0;
      for (int turn = 0; turn < 200; ++turn) {
        std::vector<int> allowed;
        for (int worker = 0; worker < workers; ++worker) {
          const bool pull = history.pullsNext(worker);
          const bool may = pull ? window.mayPull(worker) : window.mayPush(worker);
          EXPECT_EQ(may, pull ? history.mayPull(worker) : history.mayPush(worker)) << workers << ' ' << bound;
          if (may) allowed.push_back(worker);
        }
        ASSERT_FALSE(allowed.empty()) << workers << ' ' << bound;
        const int worker = allowed[random() % allowed.size()];
        if (history.pullsNext(worker)) {
          window.pulled(worker);
          history.add(worker, true);
          for (int other = 0; other < workers; ++other) {
            EXPECT_GE(history.pushes(other), history.pulls(worker) - 1 - bound) << "nobody is more ahead";
          }
        } else {
          sum += history.lacked(worker), most = std::max(most, history.lacked(worker));
          window.pushed(worker, true);
          history.add(worker, false);
        }
      }
      EXPECT_EQ(window.staleness().sum, sum);
      EXPECT_EQ(window.staleness().most, most);
      EXPECT_LE(most, (2 * bound + 1) * (workers - 1));
    }
  }
}

}  // namespace
}  // namespace tandem
