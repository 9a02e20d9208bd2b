// Parameter servers of several processes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "servers_of_ranks.h"

namespace tandem {
namespace {

using Texts = std::vector<std::string>;

TEST(Servers, OfTwoRanksTrainTheBitsOfOneProcess) { expectTheBitsOfOneProcess("0", "2"); }

TEST(Servers, OfOlderWeightsSayHowOldTheyWere) {
  const auto records = measured({"--strategy=parameter_server", "--steps=4", "--ranks=1,2", "--replicas=2",
                                 "--server-mode=staged,async", "--max-staleness=1"});
  ASSERT_EQ(records.size(), 4U);
  for (const RunRecord& record : records) {
    const bool async = record.config.exchange.serverMode == "async";
    const int64_t ranks = record.config.placement.ranks, steps = 1 + 4;
    ASSERT_TRUE(record.staleness) << "--server-mode=" << record.config.exchange.serverMode;
    EXPECT_EQ(record.staleness->updates, async ? ranks * steps : steps);
    EXPECT_LE(record.staleness->most, async ? 3 * (ranks - 1) : 1);
    EXPECT_EQ(record.placement.update, concat("parameter_server --server-mode=", async ? "async" : "staged"));
    EXPECT_NE(record.equality.value().reason.find("makes other updates than one replica"), std::string::npos);
    EXPECT_EQ(record.steps.size(), static_cast<size_t>(4 * ranks * 2));
  }
}

TEST(Servers, ThatOnlyServeHaveNoReplicas) {
  expectReplicasOfRanksAlone({"--servers=2", "--server-mode=sync,async", "--precision=fp16"}, 2);
}

TEST(Servers, TakeNoShareOfAGlobalBatch) {
  const auto records =
      measured({"--strategy=parameter_server", "--steps=3", "--ranks=2", "--servers=1", "--split=3:1"});
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].globalBatch, 8);
}

TEST(Servers, OfALauncherAreTheSameForAllPoints) {
  const std::map<std::string, std::string> launcher{
      {"RANK", "0"}, {"WORLD_SIZE", "3"}, {"MASTER_ADDR", "localhost"}, {"MASTER_PORT", "1"}};
  const std::pair<const char*, const char*> cases[] = {{"--servers=1,2", "give one"},
                                                       {"--servers=3", "none is left to train"}};
  for (const auto& [servers, text] : cases) {
    const auto run = runTandem(benchOf({"--strategy=parameter_server", servers}), launcher);
    EXPECT_EQ(run.code, 2) << servers;
    EXPECT_NE(run.err.find(text), std::string::npos) << run.err;
  }
}

Texts withRoles(const Texts& role) {
  Texts arguments = benchOf({"--steps=5", "--variable_update=parameter_server",
                             "--worker_hosts=localhost:29721,localhost:29722", "--ps_hosts=localhost:29723"});
  arguments.insert(arguments.end(), role.begin(), role.end());
  return arguments;
}

TEST(Servers, AreStartedOneByOneAsByOtherPrograms) {
  Tandem server(withRoles({"--job_name=ps", "--task_index=0"})), second(withRoles({"--job", "worker:1"})),
      first(withRoles({"--job_name", "worker", "--task_index", "0"}));
  const Finished one = first.wait(), two = second.wait(), three = server.wait();
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(two.code, 0) << two.err;
  EXPECT_EQ(three.code, 0) << three.err;
  EXPECT_EQ(two.out + three.out, "") << "worker 0 speaks for all";
  EXPECT_NE(one.out.find("images/s"), std::string::npos) << one.out;
  const auto records = readResults(resultsPath());
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].config.placement.ranks, 2);
  EXPECT_EQ(records[0].config.placement.servers, 1);
  EXPECT_EQ(records[0].config.exchange.job + records[0].config.exchange.workerHosts, "") << "a run starts them itself";
  EXPECT_EQ(records[0].placement.replicas.size(), 2U);
}

TEST(Servers, ARoleThatCannotBeIsRefusedInOneLine) {
  const std::pair<Texts, const char*> cases[] = {
      {{"--job_name=worker", "--task_index=2"}, "--worker-hosts has 2 addresses"},
      {{"--job=ps:1"}, "--ps-hosts has 1 address"},
      {{"--job=chief"}, "a process is a worker, which trains, or a ps"},
      {{"--job=worker:0", "--task_index=0"}, "both say the number of this process"},
      {{"--job=worker:0", "--ranks=2"}, "--ranks with --job=worker:0"},
      {{"--job=worker:0", "--master-addr=node1"}, "leave --master-addr away"},
      {{}, "--worker-hosts and --ps-hosts need --job"}};
  for (const auto& [role, text] : cases) {
    const auto run = runForked(withRoles(role));
    EXPECT_EQ(run.code, 2) << join(role, " ");
    EXPECT_NE(run.err.find(text), std::string::npos) << run.err;
    EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
  }
  const auto launched =
      runTandem(withRoles({"--job=worker:0"}),
                {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "localhost"}, {"MASTER_PORT", "1"}});
  EXPECT_EQ(launched.code, 2);
  EXPECT_NE(launched.err.find("with a launcher"), std::string::npos) << launched.err;
}

TEST(Servers, ARankThatFailsIsNamedInEachMode) {
  for (const char* mode : {"sync", "async", "staged"}) {
    const auto run = runTandem(benchOf({"--strategy=parameter_server", concat("--server-mode=", mode), "--ranks=2",
                                        "--steps=50", "--inject=rank=1,step=7,phase=backward,kind=sigkill"}),
                               {{"TANDEM_ALLOW_INJECT", "1"}});
    EXPECT_EQ(run.code, 6) << mode << ": " << run.err;
    EXPECT_NE(run.err.find("rank 1 ("), std::string::npos) << mode << ": " << run.err;
    EXPECT_NE(run.err.find("step 7"), std::string::npos) << mode << ": " << run.err;
  }
}

}  // namespace
}  // namespace tandem
