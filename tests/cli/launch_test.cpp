#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "base/text.h"
#include "machine/cpu/host_facts.h"
#include "run_tandem.h"

namespace tandem {
namespace {

using std::chrono::steady_clock;

/// A run that does not end by itself.
std::vector<std::string> endlessLaunch(int ranks) {
  return {"launch",
          "-n",
          concat(ranks),
          "--",
          "bench",
          "--model=trivial",
          "--classes=10",
          "--batch=4",
          "--warmup=1",
          "--replicas=1",
          "--repeats=1",
          "--verify=off",
          "--steps=100000000",
          "--allow-interference",
          "--image-size=32",
          "--out=/dev/null"};
}

/// The processes of a launch, by rank; empty until all are there.
std::vector<pid_t> ranksOf(pid_t launcher, size_t count) {
  std::vector<pid_t> ranks(count, -1);
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    if (entry.path().filename().string().find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string stat = textOf(entry.path() / "stat");
    const auto name = stat.rfind(')');  // then: the state, the parent
    if (name == std::string::npos || !stat.substr(name + 3).starts_with(concat(' ', launcher, ' '))) continue;
    for (const std::string& variable : split(textOf(entry.path() / "environ"), std::string_view("\0", 1))) {
      if (variable.starts_with("RANK=")) ranks.at(std::stoul(variable.substr(5))) = std::stoi(entry.path().filename());
    }
  }
  return std::ranges::count(ranks, -1) == 0 ? ranks : std::vector<pid_t>();
}

std::vector<pid_t> awaitRanks(const Tandem& launch, size_t count) {
  for (int i = 0; i < 600 && !launch.ended(); ++i) {
    if (auto ranks = ranksOf(launch.id(), count); !ranks.empty()) return ranks;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return {};
}

/// Whether a process runs; a zombie does not.
bool runs(pid_t process) {
  const std::string stat = textOf(concat("/proc/", process, "/stat"));
  return !stat.empty() && stat.substr(stat.rfind(')') + 2, 1) != "Z";
}

/// Whether all have ended within these seconds.
bool endWithin(const std::vector<pid_t>& processes, double seconds) {
  const auto end = steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::ranges::any_of(processes, runs)) {
    if (steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

size_t count(const std::string& text, std::string_view part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Launch, RunsACommandOnEachRank) {
  const auto run = runTandem({"launch", "-n", "3", "--", "version"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(count(run.out, "\n"), 1U) << "output of rank 0 alone:\n" << run.out;
  EXPECT_TRUE(run.out.starts_with("tandem ")) << run.out;
  EXPECT_EQ(run.err.find("[rank 0]"), std::string::npos) << run.err;
  for (const int rank : {1, 2}) EXPECT_EQ(count(run.err, concat("[rank ", rank, "] ", run.out)), 1U) << run.err;
}

TEST(Launch, SeveralAtOnceDoNotClash) {
  std::vector<std::unique_ptr<Tandem>> launches;
  for (int i = 0; i < 4; ++i) {
    launches.push_back(std::make_unique<Tandem>(std::vector<std::string>{"launch", "--ranks=2", "--", "version"}));
  }
  for (const auto& launch : launches) {
    const auto run = launch->wait();
    EXPECT_EQ(run.code, 0) << run.err;
  }
}

TEST(Launch, KeepsTheExitCodeOfTheRankThatFailed) {
  const auto run = runTandem({"launch", "-n", "2", "--", "bench", "--modle=x"});
  EXPECT_EQ(run.code, usage) << run.err;
  ASSERT_FALSE(run.errors().empty()) << run.err;
  EXPECT_TRUE(run.errors().back().starts_with("error[usage]: rank ")) << run.err;
  EXPECT_NE(run.errors().back().find("ended with exit code 2 (usage)"), std::string::npos) << run.err;
}

TEST(Launch, AKilledRankIsNamedAndTheOthersEnd) {
  Tandem launch(endlessLaunch(3));
  const auto ranks = awaitRanks(launch, 3);
  ASSERT_EQ(ranks.size(), 3U);
  kill(ranks[2], SIGKILL);
  EXPECT_TRUE(endWithin(ranks, 9)) << "three times the bound";
  const auto run = launch.wait();
  EXPECT_EQ(run.code, peer) << run.err;
  const std::string line = run.errors().back();
  EXPECT_TRUE(line.starts_with("error[peer]: rank 2 (")) << run.err;
  EXPECT_NE(line.find(concat("pid ", ranks[2], ") was killed by signal 9, SIGKILL")), std::string::npos) << run.err;
}

TEST(Launch, AStoppedRankIsKilledWithTheOthers) {
  Tandem launch(endlessLaunch(2));
  const auto ranks = awaitRanks(launch, 2);
  ASSERT_EQ(ranks.size(), 2U);
  kill(ranks[1], SIGSTOP);
  kill(ranks[0], SIGSEGV);
  EXPECT_TRUE(endWithin(ranks, 9)) << "three times the bound";
  const auto run = launch.wait();
  EXPECT_EQ(run.code, peer) << run.err;
  EXPECT_NE(run.errors().back().find("was killed by signal 11, SIGSEGV"), std::string::npos) << run.err;
}

TEST(Launch, RanksDieWithIt) {
  Tandem launch(endlessLaunch(2));
  const auto ranks = awaitRanks(launch, 2);
  ASSERT_EQ(ranks.size(), 2U);
  kill(launch.id(), SIGKILL);
  EXPECT_TRUE(endWithin(ranks, 6)) << "three times the bound";
  EXPECT_EQ(launch.wait().code, 128 + SIGKILL);
}

TEST(Launch, AnInterruptEndsAll) {
  Tandem launch(endlessLaunch(2));
  const auto ranks = awaitRanks(launch, 2);
  ASSERT_EQ(ranks.size(), 2U);
  const std::string variables = textOf(concat("/proc/", ranks[1], "/environ"));
  EXPECT_NE(variables.find("MASTER_ADDR=127.0.0.1"), std::string::npos);
  EXPECT_EQ(variables.find("TORCH_FR_BUFFER_SIZE"), std::string::npos) << "what c10d needs in the launcher";
  kill(launch.id(), SIGTERM);
  const auto run = launch.wait();
  EXPECT_EQ(run.code, interrupted) << run.err;
  EXPECT_EQ(run.errors().back(), "error[interrupted]: interrupted by signal 15, SIGTERM; all ranks have ended");
  EXPECT_TRUE(endWithin(ranks, 6));
}

struct RefusedLaunch {
  std::vector<std::string> arguments;
  std::string says;
  friend std::ostream& operator<<(std::ostream& out, const RefusedLaunch& refused) { return out << refused.says; }
};

class BadLaunch : public testing::TestWithParam<RefusedLaunch> {};

TEST_P(BadLaunch, IsOneLine) {
  std::vector<std::string> arguments{"launch"};
  arguments.insert(arguments.end(), GetParam().arguments.begin(), GetParam().arguments.end());
  const auto run = runForked(arguments);
  EXPECT_EQ(run.code, usage) << run.err;
  ASSERT_EQ(run.errors().size(), 1U) << run.err;
  EXPECT_NE(run.err.find(GetParam().says), std::string::npos) << run.err;
  EXPECT_EQ(run.out, "");
}

INSTANTIATE_TEST_SUITE_P(
    All, BadLaunch,
    testing::Values(RefusedLaunch{{"-n", "0", "--", "version"}, "-n 0: must be a whole number from 1 to 1024"},
                    RefusedLaunch{{"-n1000000", "--", "version"}, "-n 1000000: must be"},
                    RefusedLaunch{{"-n", "four", "--", "version"}, "-n four: must be"},
                    RefusedLaunch{{"-n", "--", "version"}, "-n : must be"},
                    RefusedLaunch{{"--", "version"}, "it needs the number of ranks"},
                    RefusedLaunch{{}, "it needs the number of ranks"},
                    RefusedLaunch{{"-n", "2"}, "no command to launch"},
                    RefusedLaunch{{"-n", "2", "--"}, "no command to launch"},
                    RefusedLaunch{{"-n", "2", "bench"}, "unexpected argument 'bench'"},
                    RefusedLaunch{{"-n", "2", "--", "bnech"}, "did you mean 'bench'"},
                    RefusedLaunch{{"-n", "2", "--", "list"}, "'list' does not run as several ranks"},
                    RefusedLaunch{
                        {"-n", "2", "--", "launch", "-n", "2", "--", "version"},
                        "'launch' does not run as several ranks; those that do: bench, train, links, --version"}));

}  // namespace
}  // namespace tandem
