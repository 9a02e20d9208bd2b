#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "measure/record/results_file.h"
#include "run_tandem.h"

namespace tandem {
namespace {

std::vector<std::string> compared(std::vector<std::string> more) {
  std::vector<std::string> arguments{
      "bench",        "--model=trivial", "--replicas=1",         "--steps=5",
      "--warmup=1",   "--compare",       "--allow-interference", "--out=" + ownFolder() + "/r.jsonl",
      "--classes=10", "--verify=off"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::vector<int64_t> measuredBatches() {
  std::vector<int64_t> batches;
  for (const RunRecord& record : readResults(ownFolder() + "/r.jsonl")) batches.push_back(record.config.step.batch);
  return batches;
}

TEST(Compare, TakesOneConfigurationOrTwoOfTheSameWork) {
  const auto three = runForked(compared({"--image-size=32", "--batch=2,4,8"}));
  EXPECT_EQ(three.code, 2);
  EXPECT_NE(three.err.find("the options make 3"), std::string::npos) << three.err;
  const auto other = runForked(compared({"--image-size=32,64", "--batch=2"}));
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("--image-size is 32 in A and 64 in B"), std::string::npos) << other.err;
  EXPECT_FALSE(std::filesystem::exists(ownFolder() + "/r.jsonl")) << "nothing was begun";
  EXPECT_EQ(runForked(compared({"--image-size=32", "--batch=2,4,8", "--dry-run"})).code, 2);
  const auto impossible = runForked(compared({"--image-size=32", "--batch=2,1000000000"}));
  EXPECT_EQ(impossible.code, 2);
  EXPECT_EQ(impossible.errors().size(), 1U) << impossible.err;
}

TEST(Compare, EndsWithTheReasonWhereEachRoundIsNotValid) {
#ifdef TANDEM_SANITIZED
  GTEST_SKIP() << "the sanitizer's own library must come first";
#endif
  auto arguments = compared({"--image-size=32", "--batch=2,4"});
  std::erase(arguments, "--allow-interference");
  const auto run = runTandem(arguments, {{"LD_PRELOAD", "libm.so.6"}});
  EXPECT_EQ(run.code, 9) << run.err;
  ASSERT_EQ(run.errors().size(), 1U) << run.err;
  EXPECT_NE(run.errors()[0].find("--compare: given up after 12 runs, which are stored: "), std::string::npos)
      << run.err;
  EXPECT_NE(run.errors()[0].find("injected code: LD_PRELOAD=libm.so.6"), std::string::npos) << run.err;
  EXPECT_EQ(measuredBatches().size(), 12U);
}

TEST(Compare, RunsTakeTurnsAndAreStoredWhenInterrupted) {
  Tandem tandem(compared({"--image-size=32", "--batch=2,4"}));
  for (int turn = 0; turn < 6000 && tandem.outSoFar().find("[6/40]") == std::string::npos; ++turn) usleep(10'000);
  kill(tandem.id(), SIGINT);
  const auto run = tandem.wait();
  EXPECT_EQ(run.code, 130) << run.err;
  const auto batches = measuredBatches();
  ASSERT_GE(batches.size(), 5U);
  EXPECT_EQ((std::vector<int64_t>{batches.begin(), batches.begin() + 5}), (std::vector<int64_t>{2, 4, 4, 2, 2}));
}

}  // namespace
}  // namespace tandem
