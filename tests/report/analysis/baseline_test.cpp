#include "report/analysis/baseline.h"

#include <gtest/gtest.h>

#include <functional>

#include "measure/record_example.h"

namespace tandem {
namespace {

/// Whether the 1-replica record that `change` altered still is the baseline of an unaltered 2-replica one.
bool matches(const std::function<void(RunRecord&)>& change) {
  const RunRecord two = exampleRecord(2, "replicated", 100);
  std::vector<RunRecord> records{exampleRecord(1, "replicated", 100), two};
  change(records[0]);
  return baselinesOf(records)[1] == records.data();
}

TEST(Baseline, OnlyReplicasMayDiffer) {
  EXPECT_TRUE(matches([](RunRecord&) {}));
  EXPECT_FALSE(matches([](RunRecord& record) { record.config.exchange.strategy = "parameter_server"; }));
  EXPECT_FALSE(matches([](RunRecord& record) { record.config.step.batch = 32; }));
  EXPECT_FALSE(matches([](RunRecord& record) { record.config.step.learningRate = 0.2; }));
  EXPECT_FALSE(matches([](RunRecord& record) { record.config.placement.replicas = 2; }));
}

TEST(Baseline, OptionsOfTheWholeRunDoNotCount) {
  EXPECT_TRUE(matches([](RunRecord& record) { record.config.output.out = "other.jsonl"; }));
  EXPECT_TRUE(matches([](RunRecord& record) { record.config.output.format = "csv"; }));
}

TEST(Baseline, AnotherHostOrBuildOrThreadCountIsNone) {
  EXPECT_FALSE(matches([](RunRecord& record) { record.environment.host = "other"; }));
  EXPECT_FALSE(matches([](RunRecord& record) { record.environment.commit = "other"; }));
  EXPECT_FALSE(matches([](RunRecord& record) { record.placement.threadsPerReplica = 2; }));
}

TEST(Baseline, ARunThatDoesNotCountIsNone) {
  EXPECT_FALSE(matches([](RunRecord& record) { record.outcome.kind = OutcomeKind::failed; }));
  EXPECT_FALSE(matches([](RunRecord& record) { record.interference.reasons = {"the process was stopped for 9 s"}; }));
  EXPECT_FALSE(matches([](RunRecord& record) { record.warmup.steady = false; }));
  EXPECT_FALSE(matches([](RunRecord& record) { record.profile.emplace(); }));
}

TEST(Baseline, TheFirstDeviceMustAgree) {
  std::vector<RunRecord> records{exampleRecord(1, "replicated", 100), exampleRecord(1, "replicated", 100),
                                 exampleRecord(2, "replicated", 100)};
  records[0].config.placement.devices = "cuda:1";
  records[1].config.placement.devices = "cuda:10";
  records[2].config.placement.devices = "cuda:1+0";
  EXPECT_EQ(baselinesOf(records)[2], &records[0]);
  records[2].config.placement.devices = "cuda:0+1";
  EXPECT_EQ(baselinesOf(records)[2], nullptr);
}

TEST(Baseline, AOneReplicaRecordIsItsOwn) {
  const std::vector<RunRecord> records{exampleRecord(1, "replicated", 100), exampleRecord(1, "replicated", 110)};
  EXPECT_EQ(baselinesOf(records), (std::vector{&records[0], &records[1]}));
  EXPECT_TRUE(baselinesOf({}).empty());
}

TEST(Baseline, OfRepeatsTheOneOfTheSameRoundCountsElseTheMedian) {
  std::vector<RunRecord> records{exampleRecord(1, "replicated", 120), exampleRecord(1, "replicated", 100),
                                 exampleRecord(1, "replicated", 110), exampleRecord(2, "replicated", 100)};
  EXPECT_EQ(baselinesOf(records)[3], &records[2]);
  for (size_t i = 0; i < 4; ++i) {
    records[i].sweep = "sweep";
    records[i].round = static_cast<int64_t>(i % 3) + 1;
  }
  EXPECT_EQ(baselinesOf(records)[3], &records[0]);
  records[3].sweep = "another";
  EXPECT_EQ(baselinesOf(records)[3], &records[2]);
}

}  // namespace
}  // namespace tandem
