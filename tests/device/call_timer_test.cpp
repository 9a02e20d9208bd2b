#include "device/call_timer.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "base/text.h"
#include "support/captured_warnings.h"
#include "support/recorded_streams.h"

namespace tandem {

C10_REGISTER_GUARD_IMPL(PrivateUse1, RecordedStreamsGuard)

namespace {

/// What a device that does not exist was asked for. Its work takes time on CapturedStreams::clock only, unless it is
/// captured: then the launches take it.
struct StandInDevice {
  int calls = 0, captures = 0, launches = 0;
  double captured = -1;  ///< ms of one launch; negative: nothing is being captured or was

  void compute(double ms) {
    ++calls;
    if (amid) {
      captured += ms;
    } else {
      advance(ms);
    }
  }
  static void advance(double ms) { CapturedStreams::clock = CapturedStreams::clock + ms; }

  bool amid = false;
};

class StandInGraph final : public CapturedGraph {
 public:
  StandInGraph(StandInDevice& device, const bool& refuses) : device_(device), refuses_(refuses) {}

  void record(const std::function<void()>& work, const at::Generator&) override {
    if (refuses_) throw std::runtime_error(concat("reason ", ++refused_));
    device_.captured = 0, device_.amid = true;
    work();
    device_.amid = false;
    ++device_.captures;
  }
  void call(std::function<void()>) override {}
  void launch() override {
    ++device_.launches;
    // The first one of a capture brings the graph to the device, which takes long.
    StandInDevice::advance(device_.captured + (device_.launches % 4 == 1 ? 1000 : 0));
  }

 private:
  StandInDevice& device_;
  const bool& refuses_;
  int refused_ = 0;
};

class CallTimerTest : public testing::Test {
 protected:
  CallTimer timer() {
    return {device_, [this](const Device&) { return std::make_unique<StandInGraph>(did_, refuses_); }};
  }

  const Device device_ = Device::cpuWithStreams(0, CapturedStreams::device(0));
  StandInDevice did_;
  bool refuses_ = false;
};

TEST_F(CallTimerTest, TimesWhatADeviceTakesForACallInAGraph) {
  CallTimer timer = this->timer();
  EXPECT_DOUBLE_EQ(timer.secondsOf([&] { did_.compute(8); }), 0.008);
  EXPECT_EQ(did_.captures, 1);
  EXPECT_EQ(did_.calls, 1 + 8) << "once before, since libraries choose their kernels then";
  EXPECT_EQ(did_.launches, 1 + 3) << "the first one does not count";
  EXPECT_DOUBLE_EQ(timer.secondsOf([&] { did_.compute(0.25); }), 0.00025) << "the next call has a graph of its own";
  EXPECT_EQ(did_.captures, 2);
}

TEST_F(CallTimerTest, AFirstCallMayTakeLonger) {
  bool chosen = false;
  EXPECT_DOUBLE_EQ(timer().secondsOf([&] {
    EXPECT_TRUE(chosen || !did_.amid) << "a library chooses, which cannot be captured";
    did_.compute(chosen ? 8 : 5000);
    chosen = true;
  }),
                   0.008);
}

TEST_F(CallTimerTest, WhatCannotBeCapturedIsTimedInARow) {
  CapturedWarnings warnings;
  refuses_ = true;
  CallTimer timer = this->timer();
  for (int i = 0; i < 2; ++i) {
    did_ = {};
    EXPECT_GE(timer.secondsOf([&] { did_.compute(8); }), 0);
    EXPECT_EQ(did_.launches, 0);
    EXPECT_EQ(did_.calls, 1 + 4);
  }
  EXPECT_EQ(warnings.text(), "a kernel that cannot be captured is timed outside a graph: reason 1\n") << "said once";
  refuses_ = false;
  EXPECT_DOUBLE_EQ(timer.secondsOf([&] { did_.compute(8); }), 0.008) << "the next one is captured again";
}

TEST_F(CallTimerTest, ACallThatFailsFails) {
  EXPECT_THROW(timer().secondsOf([] { throw std::runtime_error("no memory"); }), std::runtime_error);
  EXPECT_EQ(did_.captures, 0);
}

TEST_F(CallTimerTest, WithoutARecorderTheHostsClockTimes) {
  const Device cpu = Device::cpu(0, {}, 0);
  for (const Device* device : {&cpu, &device_}) {
    CallTimer timer(*device, {});
    did_ = {};
    const double before = CapturedStreams::clock;
    const double seconds = timer.secondsOf([&] { did_.compute(1e9); });
    EXPECT_GE(seconds, 0);
    EXPECT_LT(seconds, 1e5) << "the device says 1e6";
    EXPECT_EQ(CapturedStreams::clock - before, 5e9);
    EXPECT_EQ(timer.way(), "calls in a row");
  }
}

TEST_F(CallTimerTest, ItsTimesAreNotThoseOfCallsInARow) { EXPECT_EQ(timer().way(), "in a graph"); }

TEST_F(CallTimerTest, ADeviceWithoutStreamsHasNoGraphs) {
  const Device cpu = Device::cpu(0, {}, 0);
  EXPECT_ANY_THROW(CallTimer(cpu, [this](const Device&) { return std::make_unique<StandInGraph>(did_, refuses_); }));
}

}  // namespace
}  // namespace tandem
