#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "base/text.h"
#include "measure/record/results_file.h"
#include "run_tandem.h"

namespace tandem {
namespace {

/// Three seconds of a small network: a window of one is the least that shows others. A run with --save-weights is not
/// made again where something disturbed it.
std::vector<std::string> threeSeconds(std::vector<std::string> more = {}) {
  std::vector<std::string> arguments{"bench",        "--repeats=1", "--model=trivial", "--image-size=32",
                                     "--replicas=1", "--warmup=10", "--budget=3",      "--out=" + resultsPath()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

RunRecord stored() { return readResults(resultsPath()).back(); }

/// A process that computes until this is destroyed, on each CPU that this one may use and one more.
class BusyLoops {
 public:
  BusyLoops() {
    for (unsigned i = 0; i <= std::thread::hardware_concurrency(); ++i) {
      const pid_t child = fork();
      if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (volatile unsigned long turn = 0;;) turn = turn + 1;
      }
      children_.push_back(child);
    }
  }
  ~BusyLoops() {
    for (const pid_t child : children_) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }

 private:
  std::vector<pid_t> children_;
};

TEST(Interference, ProgramsThatTakeTheCpusMakeTheRecordNotValid) {
  Finished run;
  {
    const BusyLoops loops;
    run = runTandem(threeSeconds({"--save-weights=" + ownFolder() + "/w.safetensors"}));
  }
  EXPECT_EQ(run.code, 9) << run.err;
  EXPECT_NE(run.err.find("not valid: other programs used the run's CPUs for"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("; the busiest on this machine: "), std::string::npos) << run.err;
  EXPECT_NE(run.out.find("not valid"), std::string::npos);
  EXPECT_NE(run.out.find("no point to judge"), std::string::npos);
  EXPECT_GT(stored().interference.signs.at("other_programs"), 20);
}

// Stopped for a third of its life: so in the window too, whenever that begins.
TEST(Interference, AStoppedRunIsNotValid) {
  Tandem tandem(threeSeconds({"--save-weights=" + ownFolder() + "/w.safetensors"}));
  while (!tandem.ended()) {
    const pid_t worker = tandem.worker();
    if (worker > 0) kill(worker, SIGSTOP);
    usleep(200'000);
    if (worker > 0) kill(worker, SIGCONT);
    usleep(400'000);
  }
  const auto run = tandem.wait();
  EXPECT_EQ(run.code, 9) << run.err;
  EXPECT_NE(run.err.find("the process was stopped for"), std::string::npos) << run.err;
  EXPECT_GE(stored().interference.signs.at("stopped"), 10);
}

TEST(Interference, WhereItIsAllowedItIsNotedOnly) {
  const BusyLoops loops;
  const auto run = runTandem(threeSeconds({"--allow-interference"}));
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("not valid: other programs used"), std::string::npos) << run.out;
  EXPECT_EQ(stored().outcome.kind, OutcomeKind::ok);
}

TEST(Interference, TelemetryCoversTheRun) {
  runTandem(threeSeconds({"--allow-interference"}));
  const Telemetry telemetry = stored().telemetry;
  ASSERT_EQ(telemetry.phases.size(), 3U);
  EXPECT_EQ(telemetry.phases[1].name, "training");
  for (const TelemetrySeries& series : telemetry.series) {
    EXPECT_FALSE(valuesIn(telemetry, series, "training").empty()) << series.device << ' ' << series.quantity;
  }
  EXPECT_GT(telemetry.cpu, Nanos{});
}

}  // namespace
}  // namespace tandem
