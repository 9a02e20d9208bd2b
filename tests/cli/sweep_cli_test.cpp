#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "measure/metrics/metric.h"
#include "measure/record/results_file.h"
#include "run_tandem.h"

namespace tandem {
namespace {

std::vector<std::string> sweepOf(std::vector<std::string> more) {
  std::vector<std::string> arguments{"bench",        "--repeats=1", "--model=trivial", "--image-size=32",
                                     "--batch=4",    "--warmup=1",  "--oversubscribe", "--allow-interference",
                                     "--classes=10", "--verify=off"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::string freshOut() {
  std::filesystem::remove(resultsPath());
  return "--out=" + resultsPath();
}

/// False for one that has ended and whose parent has not asked for its status yet.
bool alive(pid_t process) {
  std::ifstream file(concat("/proc/", process, "/stat"));
  std::string line;
  std::getline(file, line);
  return !line.empty() && line.compare(line.rfind(')') + 2, 1, "Z") != 0;
}

/// Waits until the program works on its `number`th point and that point's process is there.
pid_t workerOfPoint(const Tandem& tandem, int number, int points) {
  const auto title = concat('[', number, '/', points, ']');
  for (int turn = 0; turn < 6000; ++turn) {
    if (tandem.outSoFar().find(title) != std::string::npos && tandem.worker() > 0) return tandem.worker();
    usleep(10'000);
  }
  return -1;
}

TEST(Sweep, StoresAndShowsEveryPoint) {
  const auto run = runTandem(sweepOf({"--steps=5", "--replicas=1,2", freshOut()}));
  EXPECT_EQ(run.code, 0) << run.err;
  const auto records = readResults(resultsPath());
  ASSERT_EQ(records.size(), 2U);
  for (const auto& record : records) {
    EXPECT_EQ(record.outcome.kind, OutcomeKind::ok) << record.outcome.reason;
    EXPECT_EQ(record.measuredSteps, 5);
    EXPECT_EQ(record.warmup.steps, 1);
    EXPECT_EQ(record.globalBatch, 4 * record.config.placement.replicas);
    EXPECT_EQ(record.steps.size(), 5U * static_cast<size_t>(record.config.placement.replicas));
    EXPECT_FALSE(record.environment.libraries.empty());
  }
  EXPECT_NE(run.out.find("images/s"), std::string::npos);
  EXPECT_NE(run.out.find("repeat with: tandem bench --model=trivial"), std::string::npos);
  EXPECT_EQ(run.err, "");
}

TEST(Sweep, FormatsForProgramsLeaveStandardOutputToTheResults) {
  const auto run = runTandem(sweepOf({"--steps=5", "--replicas=1", "--format=json", freshOut()}));
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(nlohmann::json::accept(run.out)) << run.out;
  EXPECT_NE(run.err.find("repeat with"), std::string::npos);
}

TEST(Sweep, APointThatARuleForbidsIsARowThatSaysWhy) {
  const auto run =
      runTandem(sweepOf({"--steps=5", "--scaling=strong", "--accumulate=4", "--replicas=1,3", freshOut()}));
  const auto records = readResults(resultsPath());
  EXPECT_EQ(run.code, 2);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].outcome.kind, OutcomeKind::ok);
  EXPECT_EQ(records[1].outcome.kind, OutcomeKind::skipped);
  EXPECT_NE(records[1].outcome.reason.find("each needs an image"), std::string::npos);
  EXPECT_NE(run.out.find("each needs an image"), std::string::npos);
}

TEST(Sweep, APointWhoseProcessIsKilledIsAFailedRow) {
  Tandem tandem(sweepOf({"--steps=1000000", "--point-deadline=300", "--replicas=1", freshOut()}));
  const pid_t worker = workerOfPoint(tandem, 1, 1);
  ASSERT_GT(worker, 0);
  kill(worker, SIGKILL);
  const auto run = tandem.wait();
  EXPECT_EQ(run.code, 6);
  EXPECT_EQ(run.errors().size(), 1U) << run.err;
  const auto records = readResults(resultsPath());
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].outcome.kind, OutcomeKind::failed);
  EXPECT_NE(records[0].outcome.reason.find("killed by another program"), std::string::npos)
      << records[0].outcome.reason;
}

TEST(Sweep, AMissedDeadlineIsAFailedRowAndTheNextPointStillRuns) {
  const auto run = runTandem(sweepOf({"--steps=1000000", "--point-deadline=1", "--replicas=1,2", freshOut()}));
  EXPECT_EQ(run.code, 9);
  const auto records = readResults(resultsPath());
  ASSERT_EQ(records.size(), 2U);
  for (const auto& record : records) {
    EXPECT_NE(record.outcome.reason.find("deadline of 1 s"), std::string::npos) << record.outcome.reason;
  }
}

TEST(Sweep, InterruptKeepsFinishedRows) {
  Tandem tandem(sweepOf({"--steps=5,1000000", "--replicas=1", freshOut()}));
  const pid_t worker = workerOfPoint(tandem, 2, 2);
  ASSERT_GT(worker, 0);
  kill(tandem.id(), SIGINT);
  const auto run = tandem.wait();
  EXPECT_EQ(run.code, 130);
  EXPECT_EQ(run.errors().size(), 1U) << run.err;
  EXPECT_NE(run.out.find("images/s"), std::string::npos);
  EXPECT_FALSE(alive(worker)) << "the point's process outlived the sweep";
  const auto records = readResults(resultsPath());
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].outcome.kind, OutcomeKind::ok);
}

TEST(Sweep, ThePointsProcessDiesWithTheSweep) {
  pid_t worker = -1;
  {
    Tandem tandem(sweepOf({"--steps=1000000", "--replicas=1", freshOut()}));
    worker = workerOfPoint(tandem, 1, 1);
    ASSERT_GT(worker, 0);
  }
  for (int turn = 0; turn < 6000 && alive(worker); ++turn) usleep(10'000);
  EXPECT_FALSE(alive(worker));
}

std::vector<RunRecord> recordsOfSweep(const std::vector<std::string>& more) {
  auto arguments = sweepOf(more);
  std::erase(arguments, "--repeats=1");
  arguments.push_back(freshOut());
  const auto run = runTandem(arguments);
  EXPECT_EQ(run.code, 0) << run.err;
  return readResults(resultsPath());
}

TEST(Sweep, RepeatsEachPointInRoundsOfOneSweep) {
  const auto records = recordsOfSweep({"--steps=5", "--replicas=1,2", "--repeats=2"});
  ASSERT_EQ(records.size(), 4U);
  for (size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].round, static_cast<int64_t>(i / 2) + 1);
    EXPECT_EQ(records[i].sweep, records[0].sweep);
    EXPECT_NE(records[i].sweep, "");
  }
  EXPECT_NE(records[0].config.placement.replicas, records[1].config.placement.replicas);
  EXPECT_NE(records[2].config.placement.replicas, records[3].config.placement.replicas);
}

TEST(Sweep, ByItselfItMeasuresAPointThreeTimesButAProfileOnce) {
  EXPECT_EQ(recordsOfSweep({"--steps=5", "--replicas=1"}).size(), 3U);
  EXPECT_EQ(recordsOfSweep({"--steps=5", "--replicas=1", "--profile"}).size(), 1U);
}

TEST(Sweep, JsonHasEveryMetricBesideTheRawRecord) {
  const auto run = runTandem(sweepOf({"--steps=5", "--replicas=1", "--format=json", freshOut()}));
  const auto shown = nlohmann::json::parse(run.out);
  ASSERT_EQ(shown.size(), 1U);
  for (const Metric& metric : metrics()) EXPECT_TRUE(shown[0]["metrics"].contains(metric.name)) << metric.name;
  EXPECT_GT(shown[0]["metrics"]["images_per_s"], 0);
  EXPECT_EQ(shown[0]["samples"]["wall_ns"].size(), 5U);
}

}  // namespace
}  // namespace tandem
