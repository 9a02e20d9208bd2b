#include "run/child/point_runner.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "machine/cpu/host_facts.h"
#include "run/child/worker_protocol.h"
#include "run/tiny_config.h"

namespace tandem {
namespace {

/// A worker that is a shell script; descriptor 3 is where it reports.
std::string worker(const std::string& body) {
  auto path = testing::TempDir() + "sweep_test_worker_" + testing::UnitTest::GetInstance()->current_test_info()->name();
  std::ofstream(path) << "#!/bin/sh\n" << body << '\n';
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

RunRecord runWith(const std::string& body, double deadline = 60, const PointEvents& events = {}) {
  return PointRunner(worker(body)).run(tinyConfig(), {.deadlineSeconds = deadline}, events);
}

/// A command of such a script that reports a line.
std::string report(const std::string& line) {
  static int number = 0;
  const auto path = testing::TempDir() + "sweep_test_line_" + std::to_string(getpid()) + "_" + std::to_string(++number);
  std::ofstream(path) << line;
  return "cat '" + path + "' >&3\n";
}

RunRecord finished() {
  RunRecord record;
  record.time = "2026-01-01T00:00:00Z";
  record.config = tinyConfig();
  record.globalBatch = 12345;
  return record;
}

TEST(PointRunner, ReturnsTheRecordAndForwardsProgress) {
  std::vector<int64_t> steps;
  const Progress progress{.phase = Phase::measuring, .step = 7, .steps = 9, .imagesPerSecond = 2.5, .secondsLeft = 1};
  const auto record = runWith(report(progressLine(progress)) + report(recordLine(finished())), 60,
                              {.progress = [&](const Progress& state) { steps.push_back(state.step); }});
  EXPECT_EQ(record.outcome.kind, OutcomeKind::ok);
  EXPECT_EQ(record.globalBatch, 12345);
  EXPECT_EQ(steps, std::vector<int64_t>{7});
}

TEST(PointRunner, SaysEachWarningOfItsWorkersOnce) {
  testing::internal::CaptureStderr();
  const std::string body = report(warningLine("the cache is damaged\xff")) + report(recordLine(finished()));
  for (int run = 0; run < 2; ++run) EXPECT_EQ(runWith(body).outcome.kind, OutcomeKind::ok);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "warning: the cache is damaged\\xff\n");
}

// The first is that of a measured run whose steps are then compared.
TEST(PointRunner, OfTwoRecordsTheLastOneCountsAndOneOutlivesItsWorker) {
  RunRecord second = finished();
  second.globalBatch = 54321;
  const std::string both = report(recordLine(finished())) + report(recordLine(second));
  EXPECT_EQ(runWith(both).globalBatch, 54321);
  const auto record = runWith(report(recordLine(finished())) + "kill -9 $$");
  EXPECT_EQ(record.outcome.kind, OutcomeKind::ok);
  EXPECT_EQ(record.globalBatch, 12345);
}

TEST(PointRunner, TheWorkerGetsTheConfigurationOnItsStandardInput) {
  const auto copy = testing::TempDir() + "sweep_test_order";
  runWith("cat > '" + copy + "'");
  std::ifstream file(copy);
  const auto order = orderFromText({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
  EXPECT_EQ(order.config, tinyConfig());
}

TEST(PointRunner, AllItsRunsAreOfOneSweep) {
  const auto copy = testing::TempDir() + "sweep_test_orders";
  std::filesystem::remove(copy);
  const PointRunner runner(worker("cat >> '" + copy + "'; echo >> '" + copy + "'"));
  for (int run = 0; run < 2; ++run) runner.run(tinyConfig(), {.deadlineSeconds = 60}, {});
  std::ifstream file(copy);
  std::string first, second;
  std::getline(file, first), std::getline(file, second);
  EXPECT_FALSE(orderFromText(first).sweepBegin.empty());
  EXPECT_EQ(orderFromText(second).sweepBegin, orderFromText(first).sweepBegin);
}

TEST(PointRunner, ACrashIsAFailedRecordThatNamesTheSignal) {
  const auto record = runWith("kill -SEGV $$");
  EXPECT_EQ(record.outcome.kind, OutcomeKind::failed);
  EXPECT_EQ(record.outcome.code, ExitCode::internal);
  EXPECT_NE(record.outcome.reason.find("SIGSEGV"), std::string::npos) << record.outcome.reason;
  EXPECT_EQ(record.config.network.model, "trivial");
  EXPECT_FALSE(record.environment.os.empty());
}

TEST(PointRunner, AKillFromOutsideIsNotTakenForWantOfMemory) {
  const auto record = runWith("kill -KILL $$");
  EXPECT_EQ(record.outcome.code, ExitCode::peer);
  EXPECT_NE(record.outcome.reason.find("killed by another program"), std::string::npos) << record.outcome.reason;
  EXPECT_FALSE(record.outcome.outOfMemory);
}

TEST(PointRunner, ARunAboveItsMemoryLimitIsKilled) {
  const std::string grown =
      "x=0123456789abcdef; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22; do x=$x$x; done\n";
  const PointOptions limited{.deadlineSeconds = 60, .memoryLimit = 32 << 20};
  const auto record = PointRunner(worker(grown + "sleep 100")).run(tinyConfig(), limited, {});
  EXPECT_EQ(record.outcome.code, ExitCode::usage);
  EXPECT_TRUE(record.outcome.outOfMemory);
  EXPECT_NE(record.outcome.reason.find("went beyond its limit of 32 MiB; lower --batch"), std::string::npos)
      << record.outcome.reason;
  EXPECT_EQ(PointRunner(worker("exit 3")).run(tinyConfig(), limited, {}).outcome.code, ExitCode::data);
}

TEST(PointRunner, APeakBetweenTwoLooksCountsToo) {
  auto record = finished();
  record.peakMemoryBytes = 40 << 20;
  const PointRunner runner(worker(report(recordLine(record))));
  PointOptions options{.deadlineSeconds = 60, .memoryLimit = 32 << 20};
  EXPECT_TRUE(runner.run(tinyConfig(), options, {}).outcome.outOfMemory);
  options.memoryLimit = 48 << 20;
  EXPECT_EQ(runner.run(tinyConfig(), options, {}).outcome.kind, OutcomeKind::ok);
}

TEST(PointRunner, AMissedDeadlineIsAFailedRecord) {
  const auto record = runWith("sleep 100", 0.2);
  EXPECT_EQ(record.outcome.kind, OutcomeKind::failed);
  EXPECT_EQ(record.outcome.code, ExitCode::invalidMeasurement);
  EXPECT_NE(record.outcome.reason.find("deadline of 0.2 s"), std::string::npos) << record.outcome.reason;
}

TEST(PointRunner, AnEndWithoutARecordKeepsItsExitCode) {
  EXPECT_EQ(runWith("exit 3").outcome.code, ExitCode::data);
  EXPECT_EQ(runWith("exit 0").outcome.code, ExitCode::internal);
  EXPECT_EQ(runWith("exit 99").outcome.code, ExitCode::internal);
}

TEST(PointRunner, NonsenseIsAFailedRecord) {
  const auto record = runWith("echo nonsense >&3");
  EXPECT_EQ(record.outcome.kind, OutcomeKind::failed);
  EXPECT_EQ(record.outcome.code, ExitCode::internal);
}

TEST(PointRunner, ACrashAfterTheStartKeepsWhatTheWorkerSaidOfItself) {
  auto start = finished();
  start.environment.host = "host-of-the-worker";
  const auto record = runWith(report(startLine(start)) + "kill -ABRT $$");
  EXPECT_EQ(record.outcome.kind, OutcomeKind::failed);
  EXPECT_EQ(record.environment.host, "host-of-the-worker");
}

TEST(PointRunner, ARecordCountsEvenWhenTheWorkerThenCrashes) {
  EXPECT_EQ(runWith(report(recordLine(finished())) + "kill -SEGV $$").outcome.kind, OutcomeKind::ok);
}

TEST(PointRunner, VariablesThatUndoThePlacementAreNotPassedOn) {
  setenv("OMP_PROC_BIND", "close", 1);
  setenv("TANDEM_TEST_VARIABLE", "kept", 1);
  const auto record = runWith("[ -z \"$OMP_PROC_BIND\" ] && [ \"$TANDEM_TEST_VARIABLE\" = kept ] && exit 8; exit 3");
  unsetenv("OMP_PROC_BIND");
  EXPECT_EQ(record.outcome.code, ExitCode::storage);
}

TEST(PointRunner, TheWorkerIsInItsOwnProcessGroup) {
  const auto record = runWith("[ \"$(cut -d ' ' -f 5 /proc/$$/stat)\" = $$ ] && exit 8; exit 3");
  EXPECT_EQ(record.outcome.code, ExitCode::storage);
}

TEST(PointRunner, AMissingExecutableIsAnError) {
  EXPECT_THROW(PointRunner("/no/such/program").run(tinyConfig(), {.deadlineSeconds = 5}, {}), InternalError);
}

TEST(PointRunner, AStopKillsTheWorker) {
  const auto stopInProgress = [](const Progress&) { PointRunner::requestStop(); };
  EXPECT_EXIT(
      {
        const auto record = runWith(report(progressLine({})) + "sleep 100", 60, {.progress = stopInProgress});
        std::_Exit(record.outcome.code == ExitCode::interrupted ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

/// A bench of three ranks. Each runs the body that belongs to its number in the order.
RunRecord runThreeRanks(const std::string& zero, const std::string& one, const std::string& two) {
  Config config = tinyConfig();
  config.placement.ranks = 3;
  const std::string body = "case \"$(cat)\" in\n*'\"rank\":1,'*)\n" + one + "\n;;\n*'\"rank\":2,'*)\n" + two +
                           "\n;;\n*)\n" + zero + "\n;;\nesac";
  return PointRunner(worker(body)).run(config, {.deadlineSeconds = 60}, {});
}

std::string failedWith(ExitCode code, const std::string& reason) {
  RunRecord record = finished();
  record.outcome = {OutcomeKind::failed, code, reason};
  return report(recordLine(record));
}

TEST(PointRunner, RanksGiveOneRecord) {
  const std::string good = report(recordLine(finished()));
  EXPECT_EQ(runThreeRanks(good, good, good).outcome.kind, OutcomeKind::ok);
  const RunRecord record = runThreeRanks(good, good, "exit 0");
  EXPECT_EQ(record.outcome.code, ExitCode::peer);
  EXPECT_TRUE(record.outcome.reason.starts_with(concat("rank 2 (", hostName(), ", pid "))) << record.outcome.reason;
  EXPECT_TRUE(record.outcome.reason.ends_with(
      "), while starting: the run ended with exit code 0 before its result; see its message"))
      << record.outcome.reason;
}

// Rank 0 only noticed that another one was gone, and ended earlier than rank 1 could tell why.
TEST(PointRunner, OfRanksThatFailTheCauseIsNamed) {
  const std::string noticed = failedWith(ExitCode::peer, "connection closed by peer");
  const RunRecord record =
      runThreeRanks(noticed, "sleep 1\n" + failedWith(ExitCode::numeric, "the loss is nan"), noticed);
  EXPECT_EQ(record.outcome.code, ExitCode::numeric);
  EXPECT_TRUE(record.outcome.reason.starts_with("rank 1 (")) << record.outcome.reason;
  EXPECT_TRUE(record.outcome.reason.ends_with(": the loss is nan")) << record.outcome.reason;
}

TEST(PointRunner, ARankThatFailsTakesThoseAlongThatHang) {
  const RunRecord record = runThreeRanks("sleep 100", "sleep 100", "kill -SEGV $$");
  EXPECT_EQ(record.outcome.code, ExitCode::peer);
  EXPECT_TRUE(record.outcome.reason.starts_with("rank 2 (")) << record.outcome.reason;
  EXPECT_NE(record.outcome.reason.find("the run crashed: signal 11"), std::string::npos) << record.outcome.reason;
  EXPECT_LT(seconds(record.wall), 30);
}

TEST(WorkerOrder, SurvivesItsText) {
  const RankPlace place{
      .rank = 1, .size = 4, .localRank = 1, .localSize = 2, .host = "b", .port = 7, .run = "r", .interface = "i"};
  const WorkerOrder order{.config = tinyConfig(), .sweepBegin = "2026-11-24T10:00:00.000Z", .place = place};
  const auto back = orderFromText(toText(order));
  EXPECT_EQ(back.config, order.config);
  EXPECT_EQ(back.sweepBegin, order.sweepBegin);
  EXPECT_EQ(back.place, place);
}

TEST(WorkerOrder, BadTextIsAUsageError) {
  EXPECT_THROW(orderFromText(""), UsageError);
  EXPECT_THROW(orderFromText("{"), UsageError);
  EXPECT_THROW(orderFromText("{}"), UsageError);
  EXPECT_THROW(orderFromText(R"({"config":{"no-such":1},"largest-replicas":1})"), UsageError);
}

}  // namespace
}  // namespace tandem
