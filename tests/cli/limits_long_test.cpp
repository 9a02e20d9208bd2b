#include <gtest/gtest.h>
#include <unistd.h>

#include "process_limits.h"

namespace tandem {
namespace {

TEST(LongLimits, OfProcessesAreOneLineOfEveryCommand) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can start a program as another user";
  for (const std::string& command : commandsWithThreads()) {
    for (const int most : {1, 2, 3, 4}) expectTooFewProcesses(most, command);
  }
}

}  // namespace
}  // namespace tandem
