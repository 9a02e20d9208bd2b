#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/text.h"
#include "measure/record/results_file.h"
#include "measure/validity/consistency_checks.h"
#include "run_tandem.h"

namespace tandem {
namespace {

/// A short bench of so many ranks and few weights, with a fault if there is one. Options in `more` replace those of the
/// same name.
std::vector<std::string> shortBench(int ranks, const std::string& fault, const std::vector<std::string>& more) {
  std::filesystem::remove(resultsPath());
  std::vector<std::string> arguments{"bench",        "--model=trivial", "--image-size=32", "--batch=2",
                                     "--warmup=1",   "--steps=20",      "--repeats=1",     "--allow-interference",
                                     "--verify=off", "--timeout=2",     "--oversubscribe", "--out=" + resultsPath(),
                                     "--replicas=1", "--classes=10"};
  const auto nameOf = [](const std::string& argument) { return argument.substr(0, argument.find('=')); };
  for (const std::string& option : more) {
    std::erase_if(arguments, [&](const std::string& other) { return nameOf(other) == nameOf(option); });
  }
  arguments.push_back(concat("--ranks=", ranks));
  if (!fault.empty()) arguments.push_back("--inject=" + fault);
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

Finished runRanks(int ranks, const std::string& fault, const std::vector<std::string>& more = {}) {
  return runTandem(shortBench(ranks, fault, more), {{"TANDEM_ALLOW_INJECT", "1"}});
}

std::string reasonOf(const Finished& run) {
  const auto records = readResults(resultsPath());
  return records.empty() ? run.err : records.front().outcome.reason;
}

TEST(Faults, NeedToBeAllowed) {
  const auto run = runForked({"bench", "--model=trivial", "--ranks=2", "--inject=phase=data,kind=abort"});
  EXPECT_EQ(run.code, usage) << run.err;
  EXPECT_NE(run.err.find("set TANDEM_ALLOW_INJECT=1"), std::string::npos) << run.err;
  const auto other = runRanks(2, "rank=2,phase=data,kind=abort");
  EXPECT_EQ(other.code, usage) << other.err;
  EXPECT_NE(other.err.find("there are 2 ranks, from 0"), std::string::npos) << other.err;
}

TEST(Faults, ARunWithOneIsNeverQuoted) {
  const auto run = runRanks(2, "rank=1,step=1000,phase=data,kind=abort");
  EXPECT_EQ(run.code, 0) << run.err;
  const auto records = readResults(resultsPath());
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].outcome.kind, OutcomeKind::ok) << records[0].outcome.reason;
  EXPECT_NE(whyNotQuotable(records[0]).find("injected fault"), std::string::npos) << whyNotQuotable(records[0]);
  EXPECT_NE(run.err.find("the run never came there"), std::string::npos) << run.err;
}

TEST(Faults, AKilledRankIsNamedWithHostProcessStepAndPhase) {
  const auto run = runRanks(3, "rank=2,step=7,phase=backward,kind=sigkill");
  EXPECT_EQ(run.code, peer) << run.err;
  const std::string reason = reasonOf(run);
  EXPECT_TRUE(reason.starts_with("rank 2 (")) << reason;
  EXPECT_NE(reason.find("), in phase backward of step 7: the run was killed by another program (signal 9, SIGKILL)"),
            std::string::npos)
      << reason;
}

TEST(Faults, AStoppedRankIsTheOneThatDidNotArrive) {
  const auto run = runRanks(3, "rank=1,step=7,phase=data,kind=sigstop");
  EXPECT_EQ(run.code, peer) << run.err;
  const std::string reason = reasonOf(run);
  EXPECT_TRUE(reason.starts_with("rank 1 (")) << reason;
  EXPECT_NE(reason.find(") did not arrive at collective 0 of step 7 within 2 s; last seen in phase input of step 7, "
                        "stopped by SIGSTOP or a debugger"),
            std::string::npos)
      << reason;
}

// A rank that ends without a word is lost; what it says itself is kept.
TEST(Faults, EachEndOfARankHasItsOwnText) {
  const std::tuple<const char*, int, const char*> cases[] = {
      {"segv", peer, "the run crashed: signal 11, SIGSEGV"},
      {"abort", peer, "the run crashed: signal 6, SIGABRT"},
      {"exit0", peer, "the run ended with exit code 0 before its result"},
      {"exception", internal, "an exception that --inject put here"},
      {"out-of-memory", usage, "out of memory"}};
  for (const auto& [kind, code, says] : cases) {
    const auto run = runRanks(2, concat("rank=1,step=3,phase=forward,kind=", kind));
    EXPECT_EQ(run.code, code) << kind << '\n' << run.err;
    const std::string reason = reasonOf(run);
    EXPECT_TRUE(reason.starts_with("rank 1 (")) << kind << ": " << reason;
    EXPECT_NE(reason.find(says), std::string::npos) << kind << ": " << reason;
  }
}

TEST(Faults, OtherCollectivesAreNamedBeforeTheyRun) {
  const auto run = runRanks(2, "rank=1,step=5,phase=mid_allreduce,kind=short-collective",
                            {"--check-collectives", "--model=lenet5", "--classes=1000"});
  EXPECT_EQ(run.code, internal) << run.err;
  const std::string reason = reasonOf(run);
  EXPECT_NE(reason.find("Detected mismatch between collectives on ranks. Rank "), std::string::npos) << reason;
  EXPECT_NE(reason.find("ALLREDUCE"), std::string::npos) << reason;
}

TEST(Faults, ASkippedCollectiveIsNeverASilentWrongSum) {
  // Weights of several buckets, whose collectives differ in size.
  const auto run = runRanks(2, "rank=1,step=5,phase=mid_allreduce,kind=skip-collective", {"--classes=1000"});
  EXPECT_TRUE(run.code == peer || run.code == internal) << run.code << run.err;
  EXPECT_NE(reasonOf(run), "");
}

TEST(Faults, DriftIsNamedWithRankStepAndParameter) {
  const std::string fault = "rank=1,step=9,phase=optimizer,kind=flip-bit";
  const auto late = runRanks(2, fault);
  EXPECT_EQ(late.code, internal) << late.err;
  EXPECT_NE(reasonOf(late).find("after step 20: "), std::string::npos) << reasonOf(late);
  const auto early = runRanks(2, fault, {"--check-drift=5"});
  EXPECT_EQ(early.code, internal) << early.err;
  const std::string reason = reasonOf(early);
  EXPECT_NE(reason.find("has other weights than replica 0 of rank "), std::string::npos) << reason;
  EXPECT_NE(reason.find(" after step 9: 1 of "), std::string::npos) << reason;
  EXPECT_NE(reason.find("first "), std::string::npos) << reason;
  const auto none = runRanks(2, "", {"--check-drift=5", "--check-collectives"});
  EXPECT_EQ(none.code, 0) << none.err;
}

TEST(Faults, WeightsThatNeedNotBeEqualAreNotCompared) {
  const auto run = runForked(shortBench(1, "", {"--replicas=2", "--strategy=independent", "--check-drift=5"}));
  EXPECT_EQ(run.code, usage);
  EXPECT_NE(run.err.find("need not be equal after a step"), std::string::npos) << run.err;
  const auto local = runForked(shortBench(2, "", {"--strategy=local_sgd", "--sync-every=4", "--check-drift=6"}));
  EXPECT_EQ(local.code, usage);
  EXPECT_NE(local.err.find("give a multiple of it"), std::string::npos) << local.err;
}

TEST(Faults, ALaunchStartsLostRanksAgain) {
  const std::vector<std::string> arguments{"launch",           "-n",           "2",
                                           "--max-restarts=1", "--",           "bench",
                                           "--model=trivial",  "--batch=2",    "--image-size=32",
                                           "--warmup=1",       "--steps=5",    "--repeats=1",
                                           "--verify=off",     "--timeout=5",  "--allow-interference",
                                           "--oversubscribe",  "--replicas=1", "--classes=10"};
  auto once = arguments, always = arguments;
  once.push_back("--inject=rank=1,step=3,phase=data,kind=sigkill");
  always.push_back("--inject=rank=1,step=3,phase=data,kind=sigkill,attempt=any");
  const auto again = runTandem(once, {{"TANDEM_ALLOW_INJECT", "1"}});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.err.find("restart 1 of 1"), std::string::npos) << again.err;
  const auto lost = runTandem(always, {{"TANDEM_ALLOW_INJECT", "1"}});
  EXPECT_EQ(lost.code, peer) << lost.err;
  ASSERT_FALSE(lost.errors().empty());
  EXPECT_NE(lost.errors().back().find("; attempt 1: rank "), std::string::npos) << lost.errors().back();
}

/// The variables of a rank that was started by hand.
std::map<std::string, std::string> byHand(int rank, const std::string& host, int port) {
  return {{"RANK", concat(rank)},        {"WORLD_SIZE", "2"},   {"LOCAL_RANK", "0"},
          {"LOCAL_WORLD_SIZE", "1"},     {"MASTER_ADDR", host}, {"MASTER_PORT", concat(port)},
          {"GLOO_SOCKET_IFNAME", "eth9"}};
}

TEST(Faults, AHostWithoutAnAddressAndAnInterfaceThatIsNotThereAreNamedAtOnce) {
  const std::vector<std::string> arguments{"bench", "--model=trivial", "--timeout=60"};
  const auto host = runTandem(arguments, byHand(1, "no-such-host.invalid", 29877));
  EXPECT_EQ(host.code, rendezvous) << host.err;
  EXPECT_NE(host.err.find("the host 'no-such-host.invalid'"), std::string::npos) << host.err;
  const auto interface = runTandem(arguments, byHand(0, "127.0.0.1", 29878));
  EXPECT_EQ(interface.code, rendezvous) << interface.err;
  EXPECT_NE(interface.err.find("has no network interface 'eth9'; it has "), std::string::npos) << interface.err;
}

}  // namespace
}  // namespace tandem
