#include "run/plan/disturbance_watch.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine/cpu/topology.h"

namespace tandem {
namespace {

/// Another program that computes on one CPU until this is destroyed.
class BusyProgram {
 public:
  explicit BusyProgram(int cpu) : child_(fork()) {
    if (child_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pinThread({cpu});
    for (volatile unsigned long turn = 0;;) turn = turn + 1;
  }
  ~BusyProgram() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }

 private:
  pid_t child_;
};

TEST(DisturbanceWatch, SeesWhatOthersUseFromASecondOn) {
  const int cpu = readTopology().cores.front().threads.front();
  const BusyProgram other(cpu);
  DisturbanceWatch watch({cpu});
  EXPECT_TRUE(watch.take().empty()) << "too short to tell";
  usleep(1'200'000);
  const std::vector<std::string> seen = watch.take();
  ASSERT_FALSE(seen.empty());
  EXPECT_TRUE(seen.front().starts_with("other programs used the run's CPUs for ")) << seen.front();
  EXPECT_TRUE(watch.take().empty()) << "what was told is not told again";
}

}  // namespace
}  // namespace tandem
