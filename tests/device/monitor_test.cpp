#include "device/monitor.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "trace/span.h"

namespace tandem {
namespace {

void onThreads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}

/// Both kinds of waiting: blocking (true) and spinning.
class MonitorWaits : public testing::TestWithParam<bool> {};

TEST_P(MonitorWaits, PassesAValueBetweenThreads) {
  Monitor monitor(GetParam());
  EXPECT_EQ(monitor.blocks(), GetParam());
  std::atomic<int> turn{0};
  onThreads(4, [&](int self) {
    for (int round = 0; round < 100; ++round) {
      monitor.waitUntil([&] { return turn.load() % 4 == self; });
      turn.fetch_add(1);
      monitor.notify();
    }
  });
  EXPECT_EQ(turn.load(), 400);
}

TEST_P(MonitorWaits, BarrierKeepsThreadsInStep) {
  constexpr int parties = 5, rounds = 20;
  Monitor monitor(GetParam());
  Barrier barrier(monitor, parties);
  std::atomic<int> arrivals{0}, early{0};
  onThreads(parties, [&](int self) {
    for (int round = 1; round <= rounds; ++round) {
      const bool late = round % parties == self;
      if (late) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      arrivals.fetch_add(1);
      barrier.arriveAndWait();
      if (arrivals.load() < round * parties) early.fetch_add(1);
      barrier.arriveAndWait();
    }
  });
  EXPECT_EQ(early.load(), 0);
  EXPECT_EQ(arrivals.load(), rounds * parties);
}

TEST_P(MonitorWaits, AbortFreesEverybodyWithTheFirstReason) {
  Monitor monitor(GetParam());
  Barrier barrier(monitor, 5);
  std::atomic<int> freed{0};
  onThreads(5, [&](int self) {
    if (self == 0) {
      monitor.abort("replica 0 failed");
      monitor.abort("a later reason");
      return;
    }
    try {
      barrier.arriveAndWait();
    } catch (const PeerError& error) {
      if (std::string(error.what()) == "replica 0 failed") freed.fetch_add(1);
    }
  });
  EXPECT_EQ(freed.load(), 4);
  EXPECT_TRUE(monitor.aborted());
  EXPECT_THROW(monitor.waitUntil([] { return true; }), PeerError);
}

TEST_P(MonitorWaits, AbortWakesThreadsThatAlreadyWait) {
  Monitor monitor(GetParam());
  std::atomic<int> waiting{0}, freed{0};
  onThreads(4, [&](int self) {
    if (self == 0) {
      while (waiting.load() < 3) std::this_thread::yield();
      monitor.abort("stop");
      return;
    }
    bool counted = false;
    try {
      monitor.waitUntil([&] {
        if (!counted) waiting.fetch_add(1);
        counted = true;
        return false;
      });
    } catch (const PeerError&) {
      freed.fetch_add(1);
    }
  });
  EXPECT_EQ(freed.load(), 3);
}

TEST_P(MonitorWaits, AReasonThatThrowsPassesThrough) {
  Monitor monitor(GetParam());
  EXPECT_THROW(monitor.waitUntil([]() -> bool { throw DataError("own failure"); }), DataError);
  EXPECT_FALSE(monitor.aborted());
}

TEST_P(MonitorWaits, PollSeesWhatNobodyNotifiesOf) {
  Monitor monitor(GetParam());
  int turns = 0;
  monitor.poll([&] { return ++turns == 400; });
  EXPECT_EQ(turns, 400);
}

TEST_P(MonitorWaits, AbortFreesWhoPollsAndEndsOnceWhatWasHandedToIt) {
  Monitor monitor(GetParam());
  std::atomic<int> polling{0}, freed{0}, ends{0};
  monitor.onAbort([&] { ends.fetch_add(1); });
  onThreads(2, [&](int self) {
    if (self == 0) {
      while (polling.load() == 0) std::this_thread::yield();
      monitor.abort("stop");
      monitor.abort("a later reason");
      return;
    }
    try {
      monitor.poll([&] {
        polling = 1;
        return false;
      });
    } catch (const PeerError&) {
      freed.fetch_add(1);
    }
  });
  EXPECT_EQ(freed.load(), 1);
  EXPECT_EQ(ends.load(), 1);
}

INSTANTIATE_TEST_SUITE_P(Kinds, MonitorWaits, testing::Bool(),
                         [](const auto& kind) { return kind.param ? "Blocking" : "Spinning"; });

TEST(Monitor, aWaitThatAnAbortEndsIsASpanThatEnds) {
  SpanRecorder recorder(8);
  Monitor monitor(true);
  monitor.abort("enough");
  const SpanRecording recorded(&recorder);
  EXPECT_THROW(monitor.waitUntil([] { return false; }), PeerError);
  { const Span after(SpanKind::update); }
  ASSERT_EQ(recorder.spans().size(), 2U);
  EXPECT_EQ(recorder.spans()[0].kind, SpanKind::wait);
  EXPECT_EQ(recorder.spans()[1].depth, 0);
}

}  // namespace
}  // namespace tandem
