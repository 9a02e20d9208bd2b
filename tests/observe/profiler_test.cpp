#include "observe/profiler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/text.h"
#include "trace/op_scope.h"

namespace tandem {
namespace {

/// Records `steps` steps of each replica, of three spans each; replica r begins r ms later.
Profile recorded(Profiler& profiler, int replicas, int64_t steps) {
  for (int replica = 0; replica < replicas; ++replica) {
    const SpanRecording thread(&profiler.recorder(replica));
    for (int64_t step = 0; step < steps; ++step) {
      {
        const Span whole(SpanKind::step);
        { const Span forward(SpanKind::forward); }
        const Span exchange(SpanKind::exchange);
      }
      profiler.stepDone(replica, step);
    }
  }
  RunRecord record;
  profiler.fill(record);
  return *record.profile;
}

TEST(Profiler, keepsEveryStepOfAShortRun) {
  Profiler profiler({"a", "b"});
  const Profile profile = recorded(profiler, 2, 1000);
  EXPECT_EQ(profile.every, 1);
  for (const ReplicaProfile& replica : profile.replicas) EXPECT_EQ(replica.steps.size(), 1000U);
  EXPECT_EQ(profile.replicas[0].steps.front().begin, Nanos{}) << "times count from the first step";
  EXPECT_GT(profile.replicas[1].steps.front().begin, Nanos{});
  EXPECT_GE(profile.replicas[0].steps[1].arrival, profile.replicas[0].steps[1].begin);
}

TEST(Profiler, keepsTheSameStepsOfALongRunOnAllReplicas) {
  Profiler profiler({"a", "b"});
  const Profile profile = recorded(profiler, 2, 4500);
  EXPECT_EQ(profile.every, 8);
  for (const ReplicaProfile& replica : profile.replicas) {
    ASSERT_EQ(replica.steps.size(), 563U);
    for (size_t i = 0; i < replica.steps.size(); ++i) EXPECT_EQ(replica.steps[i].step, static_cast<int64_t>(8 * i));
  }
}

TEST(Profiler, countsStepsThatHadTooManySpans) {
  Profiler profiler({"a"});
  {
    const SpanRecording thread(&profiler.recorder(0));
    for (int i = 0; i < 100'000; ++i) const Span span(SpanKind::exchange);
    profiler.stepDone(0, 0);
  }
  RunRecord record;
  profiler.fill(record);
  EXPECT_EQ(record.profile->lostSteps, 1);
  EXPECT_TRUE(record.profile->replicas[0].steps.empty());
  const Profile profile = recorded(profiler, 1, 3);
  EXPECT_EQ(profile.replicas[0].steps.size(), 3U) << "later steps are whole again";
}

/// One step of a replica that is in operation 1 for `calls` calls, of a profiler that times three.
void stepWithCalls(Profiler& profiler, int replica, int calls) {
  {
    const SpanRecording recorded(&profiler.recorder(replica));
    const OpListening timed(profiler.operations(replica));
    const Span whole(SpanKind::step);
    for (int i = 0; i < calls; ++i) {
      const OpScope mark(1);
      for (const Nanos begin = now(); now() - begin < std::chrono::microseconds(200);) {
      }
    }
  }
  profiler.stepDone(replica, 0);
}

TEST(Profiler, OperationsAreTimedOverAllReplicasAndProcesses) {
  const std::vector<OpDemand> works{{"conv forward", 10, 1, "a forward"},
                                    {"conv backward", 20, 2, "a backward"},
                                    {"relu forward", 0, 3, "b forward"}};
  Profiler here({"a", "b"}, 0, works), there({"c"}, 0, works);
  stepWithCalls(here, 0, 1), stepWithCalls(here, 1, 2), stepWithCalls(there, 0, 3);
  here.add(there.packed(), Nanos{}, Nanos{});
  RunRecord record;
  here.fill(record);
  ASSERT_TRUE(record.profile->host);
  const HostTimeline& host = *record.profile->host;
  EXPECT_EQ(host.steps, 3);
  ASSERT_EQ(host.calls.size(), 1U) << "operations that nobody called are left out";
  const WorkGroup& call = host.calls.front();
  EXPECT_EQ(call.name, "a backward");
  EXPECT_EQ(call.operations, std::vector<std::string>{"conv backward"});
  EXPECT_EQ(call.calls, 6);
  EXPECT_GE(call.time, 6 * std::chrono::microseconds(200));
  EXPECT_GE(host.wall, call.time);
  EXPECT_EQ(call.flops, 60) << "of three steps";
  EXPECT_EQ(call.bytes, 6);
  EXPECT_EQ(Profiler({"a"}).operations(0), nullptr);
}

// The clock of the second process is an hour ahead. Its first step ends before the second of this process begins.
TEST(Profiler, ReplicasOfAnotherProcessFollowOnThisClock) {
  constexpr Nanos hour = std::chrono::hours(1);
  Profiler here({"a", "b"}), there({"c"});
  recorded(there, 1, 3);
  recorded(here, 2, 3);
  here.add(there.packed(), Nanos{}, Nanos{});
  RunRecord together;
  here.fill(together);
  ASSERT_EQ(together.profile->replicas.size(), 3U);
  EXPECT_EQ(together.profile->clockError, Nanos{});
  const auto& added = together.profile->replicas[2].steps;
  ASSERT_EQ(added.size(), 3U);
  EXPECT_EQ(added.front().begin, Nanos{}) << "it began first";
  EXPECT_LT(added.back().begin, together.profile->replicas[0].steps.front().begin);
  here.add(there.packed(), hour, Nanos(7));
  RunRecord apart;
  here.fill(apart);
  ASSERT_EQ(apart.profile->replicas.size(), 4U);
  EXPECT_EQ(apart.profile->clockError, Nanos(7));
  for (size_t i = 0; i < added.size(); ++i) {
    StepParts early = apart.profile->replicas[3].steps[i], known = apart.profile->replicas[2].steps[i];
    EXPECT_EQ(known.begin - early.begin, hour);
    EXPECT_EQ(*known.arrival - *early.arrival, hour);
    known.begin = early.begin, known.arrival = early.arrival;
    EXPECT_EQ(known, early);
  }
}

TEST(Profiler, ExchangesAreThoseOfAllProcesses) {
  const auto handOver = [](Profiler& profiler, int64_t bytes) {
    const SpanRecording thread(&profiler.recorder(0));
    { const Span whole(SpanKind::step); }
    recordGradientHandoff(bytes);
    profiler.stepDone(0, 0);
  };
  Profiler here({"a"}), there({"b"});
  handOver(here, 5);
  handOver(there, 5);
  here.add(there.packed(), Nanos{}, Nanos{});
  RunRecord record;
  here.fill(record);
  ASSERT_EQ(record.profile->exchanges.size(), 1U);
  EXPECT_EQ(record.profile->exchanges[0].bytes, 5);
  EXPECT_EQ(record.profile->exchanges[0].last, (std::vector<int64_t>{0, 1}));
  EXPECT_GT(record.profile->exchanges[0].apart, Nanos{});
}

TEST(Profiler, BytesThatAreNotWholeAreRefused) {
  Profiler here({"a"}), there({"b"}, 100);
  recorded(there, 1, 3);
  const std::string packed = there.packed();
  for (const size_t size : {size_t{0}, size_t{9}, packed.size() / 2, packed.size() - 1}) {
    EXPECT_THROW(here.add(std::string_view(packed).substr(0, size), Nanos{}, Nanos{}), DataError) << size;
  }
}

/// How often `part` stands in the trace; names stand there as they are.
int timesIn(const std::string& text, const std::string& part) {
  int times = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++times;
  return times;
}

TEST(Profiler, aTraceHasATrackForEachStreamAndWhatOverlaps) {
  Profiler profiler({"a"}, Profiler::mostSpans);
  recorded(profiler, 1, 3);
  Profiler other({"node2 cores 0-1"}, Profiler::mostSpans);
  recorded(other, 1, 3);
  profiler.add(other.packed(), Nanos{}, Nanos{});
  const auto activity = [](const char* name, int device, int64_t stream, int64_t begin, int64_t end) {
    return DeviceActivity{
        .name = name, .device = device, .stream = stream, .begin = Nanos(begin), .end = Nanos(end), .step = 5};
  };
  const std::vector<DeviceActivity> activities{
      activity("third kernel", 0, 7, 300, 400), activity("first kernel", 0, 7, 100, 200),
      activity("second kernel", 0, 7, 150, 250), activity("one copy", 0, 8, 160, 170),
      activity("other device", 1, 7, 10, 20)};
  const std::string path = concat(testing::TempDir(), "profiler_test.pftrace");
  profiler.writeTrace(path, RunRecord(), activities);
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(timesIn(text, "cuda:"), 4) << "tracks";
  for (const char* track : {"cuda:0 stream 7 (2)", "cuda:0 stream 8", "cuda:1 stream 7"}) {
    EXPECT_EQ(timesIn(text, track), 1) << track;
  }
  EXPECT_EQ(timesIn(text, " kernel"), 3);
  EXPECT_EQ(timesIn(text, "replica 0, a"), 1);
  EXPECT_EQ(timesIn(text, "replica 1, node2 cores 0-1"), 1);
  const size_t order[] = {text.find("other device"), text.find("first kernel"), text.find("second kernel"),
                          text.find("one copy"), text.find("third kernel")};
  EXPECT_TRUE(std::is_sorted(std::begin(order), std::end(order))) << "in the order of time";
}

}  // namespace
}  // namespace tandem
