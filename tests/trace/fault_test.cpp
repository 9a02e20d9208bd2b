#include "trace/fault.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <new>

#include "base/error.h"
#include "support/text_of_failure.h"
#include "trace/flight_recorder.h"
#include "trace/span.h"

namespace tandem {
namespace {

TEST(Fault, IsReadFromItsText) {
  const Fault all = faultFrom("rank=2,step=7,phase=mid_allreduce,kind=skip-collective,replica=1,attempt=3");
  EXPECT_EQ(all, (Fault{.rank = 2,
                        .replica = 1,
                        .step = 7,
                        .phase = FaultPhase::collective,
                        .kind = FaultKind::skipCollective,
                        .attempt = 3}));
  const Fault least = faultFrom("phase=exit,kind=exit0");
  EXPECT_EQ(least, (Fault{.phase = FaultPhase::exit, .kind = FaultKind::exit0, .attempt = 0}));
  EXPECT_EQ(faultFrom("phase=exit,kind=exit0,attempt=any").attempt, std::nullopt);
}

TEST(Fault, OfAnotherFormIsRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "it has the form rank=R"},
      {"phase=data", "needs kind="},
      {"kind=abort", "needs phase="},
      {"phase=lunch,kind=abort", "phase=lunch must be one of before_rdzv, "},
      {"phase=data,kind=flood", "kind=flood must be one of sigkill, "},
      {"rank=-1,phase=data,kind=abort", "rank=-1 must be a whole number"},
      {"rank=x,phase=data,kind=abort", "rank=x must be"},
      {"step,phase=data,kind=abort", "step= must be"},
      {"phase=data,kind=flip-bit", "kind=flip-bit needs phase=optimizer"},
      {"phase=data,kind=skip-collective", "needs phase=mid_allreduce"},
      {"phase=data,kind=abort,when=now", "'when=now': it has the form"}};
  for (const auto& [text, says] : cases) {
    EXPECT_NE(breachOfFault(text).find(says), std::string::npos) << text << ": " << breachOfFault(text);
    EXPECT_NE(textOfFailure<UsageError>([&] { faultFrom(text); }).find(says), std::string::npos);
  }
}

/// A replica's thread that trains one step after another.
void train(FlightLog& log, int64_t steps) {
  threadFlight = &log;
  for (int64_t step = 0; step < steps; ++step) {
    log.beginStep(step);
    const Span whole(SpanKind::step);
    const Span forward(SpanKind::forward);
  }
  threadFlight = nullptr;
}

TEST(Fault, StrikesOnceInItsStepAndPhase) {
  FlightMemory memory(2);
  armFault(faultFrom("replica=1,step=3,phase=forward,kind=exception"));
  EXPECT_FALSE(ReplicaFault::of(0).has_value());
  FlightLog log(*memory.slot(1), ReplicaFault::of(1));
  EXPECT_TRUE(faultIsPending());
  train(log, 3);
  EXPECT_TRUE(faultIsPending());
  EXPECT_THROW(train(log, 4), std::runtime_error);
  threadFlight = nullptr;
  EXPECT_FALSE(faultIsPending());
  train(log, 10);
}

TEST(Fault, SpoilsOneCollective) {
  FlightMemory memory(1);
  armFault(faultFrom("step=2,phase=mid_allreduce,kind=short-collective"));
  FlightLog log(*memory.slot(0), ReplicaFault::of(0));
  log.beginStep(1);
  EXPECT_FALSE(log.spoils(FaultKind::shortCollective));
  log.beginStep(2);
  EXPECT_FALSE(log.spoils(FaultKind::skipCollective));
  EXPECT_TRUE(log.spoils(FaultKind::shortCollective));
  EXPECT_FALSE(log.spoils(FaultKind::shortCollective));
}

TEST(FaultDeathTest, ProcessesEndAsTheKindSays) {
  const auto strike = [](const char* kind) {
    armFault(faultFrom(std::string("phase=exit,kind=") + kind));
    faultAt(FaultPhase::rename);
    faultAt(FaultPhase::exit);
  };
  EXPECT_EXIT(strike("sigkill"), testing::KilledBySignal(SIGKILL), "");
  EXPECT_EXIT(strike("segv"), testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(strike("abort"), testing::KilledBySignal(SIGABRT), "");
  EXPECT_EXIT(strike("exit0"), testing::ExitedWithCode(0), "");
  EXPECT_THROW(strike("out-of-memory"), std::bad_alloc);
}

}  // namespace
}  // namespace tandem
