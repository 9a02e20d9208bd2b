#include <gtest/gtest.h>
#include <signal.h>

#include "sent_signals.h"

namespace tandem {
namespace {

TEST(LongSignals, AreHeededWhilePeaksAreMeasured) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) expectHeededWhilePeaksAreMeasured(signal);
}

TEST(LongSignals, ARunThatAnotherProgramEndsIsNoCrash) {
  for (const char* const signal : {"INT", "TERM", "HUP", "KILL"}) expectNoCrash(signal);
}

TEST(LongSignals, EndPredictionsAsTheyEndARun) {
  const std::string images = manyImages(40'000);
  for (const char* const signal : {"INT", "TERM", "HUP"}) {
    expectEndsPredictions(signal, "predict" + images);
    expectEndsPredictions(signal, "features --out=f.npy" + images);
  }
  EXPECT_EQ(leftOver().size(), 0U);
  EXPECT_EQ(filesLike("f.npy").size(), 0U);
}

}  // namespace
}  // namespace tandem
