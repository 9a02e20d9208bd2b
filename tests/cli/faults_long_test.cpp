#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <ostream>

#include "base/text.h"
#include "machine/cpu/host_facts.h"
#include "measure/record/results_file.h"
#include "run_tandem.h"

namespace tandem {
namespace {

/// A short run of four ranks with a fault in the third, or without one.
Finished runFour(const std::string& fault) {
  const std::string results = resultsPath();
  std::filesystem::remove(results);
  std::vector<std::string> arguments{"bench",           "--model=trivial",
                                     "--image-size=32", "--batch=2",
                                     "--warmup=1",      "--steps=20",
                                     "--repeats=1",     "--allow-interference",
                                     "--verify=off",    "--timeout=5",
                                     "--oversubscribe", "--ranks=4",
                                     "--replicas=1",    "--save-weights=" + ownFolder() + "/w.safetensors",
                                     "--out=" + results};
  if (!fault.empty()) arguments.push_back("--inject=" + fault);
  return runTandem(arguments, {{"TANDEM_ALLOW_INJECT", "1"}});
}

/// Ids of processes that have the variable in their environment.
std::vector<pid_t> processesWith(const std::string& variable) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string id = entry.path().filename();
    if (id.find_first_not_of("0123456789") != std::string::npos || std::stoi(id) == getpid()) continue;
    if (textOf(entry.path() / "environ").find(variable) != std::string::npos) found.push_back(std::stoi(id));
  }
  return found;
}

struct Killed {
  const char* phase;
  int rank = 2;
  friend std::ostream& operator<<(std::ostream& out, const Killed& killed) { return out << killed.phase; }
};

class LongFaultPhase : public testing::TestWithParam<Killed> {};

TEST_P(LongFaultPhase, AKilledRankIsNamedAndNothingIsLeft) {
  const std::string weights = ownFolder() + "/w.safetensors";
  std::ofstream(weights) << "those of the run before";
  const std::string mark = concat("TANDEM_FAULT_TEST=", getpid(), '-', GetParam().phase);
  putenv(const_cast<char*>(mark.c_str()));
  const auto run = runFour(concat("rank=", GetParam().rank, ",step=7,phase=", GetParam().phase, ",kind=sigkill"));
  EXPECT_TRUE(processesWith(mark).empty());
  unsetenv("TANDEM_FAULT_TEST");
  EXPECT_EQ(run.code, peer) << run.err;
  const auto records = readResults(resultsPath());
  ASSERT_EQ(records.size(), 1U);
  const std::string& reason = records[0].outcome.reason;
  EXPECT_TRUE(reason.starts_with(concat("rank ", GetParam().rank, " (", hostName(), ", pid "))) << reason;
  EXPECT_NE(reason.find("signal 9, SIGKILL"), std::string::npos) << reason;
  const bool wasDone = GetParam().phase == std::string("exit");  // rank 0's file was there before
  EXPECT_TRUE(wasDone || textOf(weights) == "those of the run before");
}

INSTANTIATE_TEST_SUITE_P(Long, LongFaultPhase,
                         testing::Values(Killed{"before_rdzv"}, Killed{"after_rdzv"}, Killed{"data"}, Killed{"forward"},
                                         Killed{"backward"}, Killed{"mid_allreduce"}, Killed{"optimizer"},
                                         Killed{"ckpt_write", 0}, Killed{"ckpt_rename", 0}, Killed{"exit"}));

// What the tests above find would be found of any run, if this one failed too.
TEST(LongFaults, FourRanksWithoutAFaultEndWell) {
  const auto run = runFour("");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(std::filesystem::exists(ownFolder() + "/w.safetensors"));
}

}  // namespace
}  // namespace tandem
