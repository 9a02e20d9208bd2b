#include "measure/validity/consistency_checks.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "base/text.h"
#include "measure/training_example.h"

namespace tandem {
namespace {

/// A run of two replicas with 16 images each, 6 steps of warm-up and 30 measured.
RunRecord honest() {
  RunRecord record = exampleRecord(2, "replicated", 100);
  record.config.step.batch = 16;
  record.config.step.learningRate = 0.1;
  record.config.input.data = "cifar-10-batches-bin", record.config.input.augment = "standard";
  record.placement.data = "cifar10", record.placement.augment = "standard";
  record.placement.flopsPerImage = 24.3e9;
  return record;
}

struct Cheat {
  std::string_view guard;
  std::function<void(RunRecord&)> make;
};

const std::vector<Cheat> cheats{
    {"samples missing", [](RunRecord& record) { record.steps.pop_back(); }},
    {"samples missing", [](RunRecord& record) { record.measuredSteps += 1, record.losses.push_back(1); }},
    {"other batch", [](RunRecord& record) { record.config.step.batch = 32; }},
    {"other batch", [](RunRecord& record) { record.globalBatch = 64; }},
    {"window too short", [](RunRecord& record) { record.window = record.window * 99 / 100; }},
    {"losses missing", [](RunRecord& record) { record.losses.resize(30); }},
    {"nothing trained", [](RunRecord& record) { record.losses.assign(36, 6.9); }},
    {"other images", [](RunRecord& record) { record.placement.data = "synthetic"; }},
    {"other images", [](RunRecord& record) { record.config.input.data = ""; }},
    {"other augmentation", [](RunRecord& record) { record.placement.augment = ""; }},
    {"other augmentation", [](RunRecord& record) { record.config.input.augment = "none"; }},
    {"other work", [](RunRecord& record) { record.placement.flopsPerImage = record.placement.forwardFlopsPerImage; }},
    {"other work", [](RunRecord& record) { record.placement.forwardFlopsPerImage /= 2; }},
    {"injected code", [](RunRecord& record) { record.environment.variables["LD_PRELOAD"] = "faster.so"; }},
    {"injected code", [](RunRecord& record) { record.environment.variables["LD_AUDIT"] = "faster.so"; }},
    {"injected fault",
     [](RunRecord& record) { record.config.measurement.inject = "rank=1,step=3,phase=data,kind=sigkill"; }},
    {"checked as it ran", [](RunRecord& record) { record.config.exchange.checkCollectives = true; }},
    {"checked as it ran", [](RunRecord& record) { record.config.exchange.checkDrift = 5; }},
};

TEST(Guards, AnHonestRunIsBeyondDoubt) {
  EXPECT_EQ(join(doubts(honest())), "");
  EXPECT_TRUE(isQuotable(honest()));
  RunRecord strong = honest();
  strong.config.measurement.scaling = "strong";
  strong.config.step.batch = 32;
  EXPECT_EQ(join(doubts(strong)), "");
  RunRecord peer = honest();
  peer.steps.clear(), peer.losses.clear();
  EXPECT_NE(join(doubts(peer)), "");
  peer.config.measurement.program = "tf_cnn_benchmarks, tensorflow 2.15.0";
  EXPECT_EQ(join(doubts(peer)), "") << "it tells its rate alone";
}

TEST(Guards, EachCheatIsFoundByItsGuard) {
  for (const Cheat& cheat : cheats) {
    RunRecord record = honest();
    cheat.make(record);
    const auto found = doubts(record);
    ASSERT_EQ(found.size(), 1u) << cheat.guard << ": " << join(found);
    EXPECT_TRUE(found.front().starts_with(concat(cheat.guard, ": "))) << found.front();
    EXPECT_FALSE(isQuotable(record));
  }
}

TEST(Guards, ATrainingHasTheLossesOfItsStepsSinceItBegan) {
  RunRecord record = exampleTraining();
  record.config.step.batch = 16;
  EXPECT_EQ(join(doubts(record)), "");
  record.losses.pop_back();
  EXPECT_EQ(join(doubts(record)), "losses missing: 799 losses of 800 steps");
  record.training->steps = 200'000;
  EXPECT_EQ(join(doubts(record)), "losses missing: 799 losses of 100000 steps");
  record.losses.resize(100'000, 1);
  EXPECT_EQ(join(doubts(record)), "") << "no record has more";
  record.training->steps = 99'999, record.training->resumedAt = -1;
  EXPECT_EQ(join(doubts(record)), "losses missing: 100000 losses of 99999 steps");
}

TEST(Guards, EachHasACheat) {
  std::set<std::string_view> tried;
  for (const Cheat& cheat : cheats) tried.insert(cheat.guard);
  for (const ConsistencyCheck& guard : consistencyChecks()) EXPECT_TRUE(tried.contains(guard.name)) << guard.name;
}

TEST(Guards, WhatIsNoCheatIsNotDoubted) {
  RunRecord record = honest();
  record.losses.assign(36, 6.9);
  record.config.step.forwardOnly = true;
  record.placement.flopsPerImage = record.placement.forwardFlopsPerImage;
  EXPECT_EQ(join(doubts(record)), "") << "forward alone the loss of an image stays";
  record = honest();
  record.environment.variables = {{"LD_PRELOAD", ""}, {"OMP_STACKSIZE", "8M"}};
  EXPECT_EQ(join(doubts(record)), "");
  record = honest();
  record.config.input.data = "", record.placement.data = "synthetic", record.placement.augment = "";
  EXPECT_EQ(join(doubts(record)), "") << "synthetic images are not changed";
  record.placement.data = "", record.placement.flopsPerImage = 0;
  EXPECT_EQ(join(doubts(record)), "") << "of a record from before these were noted";
  record = honest();
  record.steps.clear();
  record.outcome = {OutcomeKind::failed, ExitCode::peer, "gone"};
  EXPECT_EQ(join(doubts(record)), "") << "there is no number to doubt";
  EXPECT_FALSE(isQuotable(record));
}

}  // namespace
}  // namespace tandem
