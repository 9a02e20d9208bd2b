#include "engine/profiler.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

/// Records `steps` steps of each replica, of three spans each; replica r begins r ms later.
Profile recorded(Profiler& profiler, int replicas, int64_t steps) {
  for (int replica = 0; replica < replicas; ++replica) {
    const RecordedThread thread(&profiler.recorder(replica));
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
  Profiler profiler(2, false);
  const Profile profile = recorded(profiler, 2, 1000);
  EXPECT_EQ(profile.every, 1);
  for (const ReplicaProfile& replica : profile.replicas) EXPECT_EQ(replica.steps.size(), 1000U);
  EXPECT_EQ(profile.replicas[0].steps.front().begin, Nanos{}) << "times count from the first step";
  EXPECT_GT(profile.replicas[1].steps.front().begin, Nanos{});
  EXPECT_GE(profile.replicas[0].steps[1].arrival, profile.replicas[0].steps[1].begin);
}

TEST(Profiler, keepsTheSameStepsOfALongRunOnAllReplicas) {
  Profiler profiler(2, false);
  const Profile profile = recorded(profiler, 2, 4500);
  EXPECT_EQ(profile.every, 8);
  for (const ReplicaProfile& replica : profile.replicas) {
    ASSERT_EQ(replica.steps.size(), 563U);
    for (size_t i = 0; i < replica.steps.size(); ++i) EXPECT_EQ(replica.steps[i].step, static_cast<int64_t>(8 * i));
  }
}

TEST(Profiler, countsStepsThatHadTooManySpans) {
  Profiler profiler(1, false);
  {
    const RecordedThread thread(&profiler.recorder(0));
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

}  // namespace
}  // namespace tandem
