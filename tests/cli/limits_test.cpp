// Limits of the process (ulimit) and of its place: one line each.
#include <gtest/gtest.h>
#include <unistd.h>

#include "process_limits.h"

namespace tandem {
namespace {

TEST(Limits, OfTheProcessAreOneLine) {
  expectOneLine(shell("ulimit -s 64; exec $T " + tiny()), usage, "ulimit -s");
  // Descriptors that the test inherited would count.
  expectOneLine(shell("exec 3>&- 4>&- 5>&- 6>&-; ulimit -n 7; exec $T " + tiny()), usage, "ulimit -n");
  expectOneLine(shell("(ulimit -f 0; exec $T " + tiny() + ") 2>&1 | cat >&2; exit ${PIPESTATUS[0]}"), storage,
                "File too large");
  expectOneLine(shell("ulimit -t 2; exec $T " + tiny(endless)), usage, "the run took its CPU time");
  expectOneLine(shell("ulimit -t 1; exec $T list models"), usage, "1 seconds of CPU time are the most here");
  expectOneLine(shell("ulimit -t 2; exec $T plan show --model=nasnet_large"), usage, "the CPU time that this process");
}

TEST(Limits, OfProcessesFailTheRunAtOnce) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can start a program as another user";
  const auto run = withProcesses(4, tiny());
  EXPECT_EQ(run.code, usage) << run.err;
  EXPECT_TRUE(contains(run.out, "4 processes and threads of a user are the most here (ulimit -u)")) << run.out;
}

// Each command where it lacks another number of them; the long test has every number for each.
TEST(Limits, OfProcessesAreOneLineOfEveryCommand) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can start a program as another user";
  int most = 0;
  for (const std::string& command : commandsWithThreads()) expectTooFewProcesses(++most, command);
}

TEST(Limits, OfProcessesEndASenderWhoseProducersCannotStart) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can start a program as another user";
  const auto run = withProcesses(40, "data serve ipc://pipe --producers=400 --prefetch=1 --batch=1 --image-size=8");
  expectOneLine(run, usage, "of a user are the most here (ulimit -u); raise it");
}

TEST(Limits, OfAFilesSizeLeaveTheOldWeights) {
  const auto run = shell("echo old > w.safetensors; ulimit -f 100; exec $T " + tiny() + "--save-weights=w.safetensors");
  EXPECT_EQ(run.code, storage) << run.err;
  EXPECT_TRUE(contains(run.err, "File too large")) << run.err;
  EXPECT_EQ(contents("w.safetensors"), "old\n");
  EXPECT_EQ(leftOver().size(), 0U);
}

TEST(Limits, AFolderThatIsGoneIsOneLine) {
  expectOneLine(shell("mkdir gone; cd gone; rmdir ../gone; exec $T list models"), usage, "no longer exists");
}

}  // namespace
}  // namespace tandem
