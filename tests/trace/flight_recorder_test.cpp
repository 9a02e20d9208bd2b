#include "trace/flight_recorder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "trace/span.h"

namespace tandem {
namespace {

/// As in a child: another mapping of the same memory.
std::unique_ptr<FlightMemory> childs(const FlightMemory& parents) {
  return FlightMemory::inherited(dup(parents.descriptor()));
}

TEST(FlightRecorder, AParentReadsWhatItsChildDoes) {
  const FlightMemory parents(2);
  EXPECT_EQ(parents.read(), (ProcessFlight{.stage = Stage::starting, .replicas = {{}, {}}}));
  const auto memory = childs(parents);
  ASSERT_NE(memory, nullptr);
  memory->enter(Stage::training);
  processFlight = memory.get();
  {
    const FlightLogging logging(1);
    const Span outside(SpanKind::wait);
    EXPECT_EQ(parents.read().replicas[1].span, "") << "a wait between steps";
    threadFlight->startCollective(100, 0);
    threadFlight->finishCollective();
    threadFlight->beginStep(7);
    {
      const Span whole(SpanKind::step);
      const Span backward(SpanKind::backward);
      threadFlight->startCollective(640, 1);
      {
        const Span update(SpanKind::update);
        EXPECT_EQ(parents.read().replicas[1].span, "update");
      }
      const ReplicaFlight seen = parents.read().replicas[1];
      EXPECT_EQ(seen,
                (ReplicaFlight{.step = 7, .started = 2, .finished = 1, .before = 1, .bytes = 640, .span = "backward"}));
    }
    EXPECT_EQ(parents.read().replicas[1].span, "");
  }
  processFlight = nullptr;
  EXPECT_EQ(threadFlight, nullptr);
  EXPECT_EQ(parents.read().stage, Stage::training);
  EXPECT_EQ(parents.read().replicas[0], ReplicaFlight());
}

TEST(FlightRecorder, OtherSizesOrAnotherOrderAreOtherCollectives) {
  FlightMemory memory(3);
  std::vector<FlightLog> logs;
  for (int i = 0; i < 3; ++i) logs.emplace_back(*memory.slot(i), std::nullopt);
  logs[0].startCollective(8, 0), logs[0].startCollective(64, 1);
  logs[1].startCollective(8, 0), logs[1].startCollective(64, 1);
  logs[2].startCollective(64, 0), logs[2].startCollective(8, 1);
  EXPECT_EQ(logs[0].collectives(), logs[1].collectives());
  EXPECT_NE(logs[0].collectives(), logs[2].collectives());
}

TEST(FlightRecorder, GroupsMayTakeTurnsInAnotherOrder) {
  FlightMemory memory(2);
  FlightLog one(*memory.slot(0), std::nullopt), other(*memory.slot(1), std::nullopt);
  one.startCollective(8, 0), one.startCollective(64, 0), one.startCollective(8, 1);
  other.startCollective(64, 0), other.startCollective(8, 0), other.startCollective(8, 1);
  EXPECT_EQ(one.collectives(), other.collectives());
}

TEST(FlightRecorder, OtherDescriptorsAreNotTaken) {
  EXPECT_EQ(FlightMemory::inherited(-1), nullptr);
  EXPECT_EQ(FlightMemory::inherited(open("/dev/null", O_RDWR)), nullptr);
  EXPECT_EQ(FlightMemory::inherited(open("/proc/self/exe", O_RDONLY)), nullptr);
  const FlightMemory one(1);
  EXPECT_EQ(childs(one)->slot(1), nullptr);
}

}  // namespace
}  // namespace tandem
