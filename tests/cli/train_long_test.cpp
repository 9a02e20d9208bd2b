#include <gtest/gtest.h>

#include "small_trainings.h"

namespace tandem {
namespace {

class LongTrain : public SmallTrainings {};

TEST_F(LongTrain, EachSignalEndsItAndItGoesOn) {
  const std::string whole = sumOfWhole({});
  EXPECT_EQ(sumOfInterrupted({}, SIGTERM), whole);
  EXPECT_EQ(sumOfInterrupted({}, SIGUSR1), whole);
}

TEST_F(LongTrain, AnyServersOfRanksGoOnFromTheirCheckpoint) {
  for (const char* servers : {"--server-ranks=0", "--server-ranks=1"}) {
    const Texts more = ofServers(servers);
    EXPECT_EQ(sumOfInterrupted(more, SIGTERM), sumOfWhole(more)) << servers;
  }
}

}  // namespace
}  // namespace tandem
