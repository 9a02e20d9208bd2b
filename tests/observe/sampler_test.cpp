#include "observe/sampler.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "observe/host_probe.h"
#include "observe/nvml_probe.h"

namespace tandem {
namespace {

using std::chrono::milliseconds;

std::atomic<int> readings{0};  // of all probes

/// Counts its readings; the second quantity cannot be read.
class CountingProbe final : public Probe {
 public:
  explicit CountingProbe(milliseconds pause = {}) : pause_(pause) {}
  std::vector<Quantity> quantities() const override { return {{"box", "readings", ""}, {"box", "nothing", ""}}; }
  void read(std::span<double> values) override {
    ++readings;
    values[0] = ++readings_;
    values[1] = std::nan("");
    std::this_thread::sleep_for(pause_);
  }
  std::optional<double> joules() override { return 2.5; }

 private:
  milliseconds pause_;
  double readings_ = 0;
};

Probes counting(milliseconds pause = {}) {
  Probes probes;
  probes.push_back(std::make_unique<CountingProbe>(pause));
  probes.push_back(std::make_unique<CountingProbe>());
  return probes;
}

TEST(Sampler, EveryMomentHasAValueOfEveryQuantity) {
  Sampler sampler(counting(), milliseconds(1));
  sampler.enter("training");
  std::this_thread::sleep_for(milliseconds(50));
  sampler.enter("end");
  EXPECT_EQ(sampler.joules(), 5.0);
  const Telemetry telemetry = sampler.finish();
  ASSERT_GE(telemetry.at.size(), 2U);
  ASSERT_EQ(telemetry.series.size(), 4U);
  for (const TelemetrySeries& series : telemetry.series) EXPECT_EQ(series.values.size(), telemetry.at.size());
  EXPECT_EQ(telemetry.series[2].values[1], 2);
  EXPECT_TRUE(std::isnan(telemetry.series[1].values[0]));
  ASSERT_EQ(telemetry.phases.size(), 2U);
  EXPECT_GE(telemetry.phases[1].begin - telemetry.phases[0].begin, milliseconds(50));
  EXPECT_GT(telemetry.cpu, Nanos{});
}

TEST(Sampler, APhaseThatIsEnteredAgainGoesOn) {
  Sampler sampler(Probes{}, milliseconds(1));
  for (const char* phase : {"training", "training", "test", "training", "end"}) sampler.enter(phase);
  std::vector<std::string> names;
  for (const TelemetryPhase& phase : sampler.finish().phases) names.push_back(phase.name);
  EXPECT_EQ(names, (std::vector<std::string>{"training", "test", "training", "end"}));
}

TEST(Sampler, ALongRunIsSampledMoreCoarsely) {
  const int before = readings;
  Sampler sampler(counting(), milliseconds(1));
  while (readings - before < 2 * 450) std::this_thread::sleep_for(milliseconds(10));  // of two probes
  const Telemetry telemetry = sampler.finish();
  EXPECT_LE(telemetry.at.size(), 400U);
  EXPECT_TRUE(std::ranges::is_sorted(telemetry.at));
  const auto& readings = telemetry.series.front().values;
  EXPECT_EQ(readings.size(), telemetry.at.size());
  EXPECT_GT(readings.back(), static_cast<double>(readings.size())) << "nothing was thinned out";
  for (size_t i = 1; i < telemetry.at.size(); ++i) {
    EXPECT_GE(telemetry.at[i] - telemetry.at[i - 1], milliseconds(10)) << "sampled every fifth tick still, at " << i;
  }
}

TEST(Sampler, WithoutProbesSeesStopsAlone) {
  Sampler sampler({}, milliseconds(1));
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_TRUE(sampler.finish().at.empty());
}

/// A child stops this process so many times, for so long each.
void stopThisProcess(int times, milliseconds time) {
  const pid_t own = getpid(), child = fork();
  if (child == 0) {
    for (int i = 0; i < times; ++i) {
      usleep(60'000);
      kill(own, SIGSTOP);
      usleep(static_cast<useconds_t>(1000 * time.count()));
      kill(own, SIGCONT);
    }
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}

TEST(Sampler, StopsAreTheTimeInWhichItDidNotWake) {
  Sampler sampler(counting(), milliseconds(20));
  stopThisProcess(5, milliseconds(80));
  const Nanos stopped = sampler.takeStopped();
  EXPECT_GE(stopped, 5 * milliseconds(80 - 20)) << "at most one sleep of each stop was due anyway";
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_LT(sampler.takeStopped(), stopped) << "what was told counts once";
}

TEST(Sampler, AProbeThatTakesLongIsNoStop) {
  Sampler sampler(counting(milliseconds(300)), milliseconds(20));
  std::this_thread::sleep_for(milliseconds(400));
  EXPECT_LT(sampler.takeStopped(), milliseconds(250));
}

class FilesOf : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(root_);
  }
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  std::filesystem::path root_;
};

using HostProbe = FilesOf;

TEST_F(HostProbe, UseIsWhatTheCpuWasBusyBetweenTwoReadings) {
  write("proc/stat", "cpu0 100 0 0 0 0 0 0 0 0 0\n");
  write("proc/7/statm", "1000 512 0 0 0 0 0\n");
  const auto probe = hostProbe({0}, {7}, root_);
  ASSERT_EQ(probe->quantities().size(), 2U);
  std::vector<double> values(2);
  probe->read(values);
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_EQ(values[1], 2);
  write("proc/8/statm", "1000 256 0 0 0 0 0\n");
  const auto ofTwo = hostProbe({}, {7, 8}, root_), ofOneGone = hostProbe({}, {7, 9}, root_);
  ofTwo->read(std::span(values).last(1));
  EXPECT_EQ(values[1], 3) << "processes of one run";
  ofOneGone->read(std::span(values).last(1));
  EXPECT_TRUE(std::isnan(values[1]));
  write("proc/stat", "cpu0 1000100 0 0 0 0 0 0 0 0 0\n");
  std::this_thread::sleep_for(milliseconds(10));
  probe->read(values);
  EXPECT_GT(values[0], 100);  // ten thousand seconds of work in some milliseconds
  EXPECT_FALSE(probe->joules());
}

TEST_F(HostProbe, EnergyIsThatOfAllPackagesAndSurvivesAWrappedCounter) {
  write("proc/stat", "cpu0 100 0 0 0 0 0 0 0 0 0\n");
  for (const std::string package : {"intel-rapl:0", "intel-rapl:1", "intel-rapl:0:0"}) {
    write("sys/class/powercap/" + package + "/max_energy_range_uj", "100000000\n");
    write("sys/class/powercap/" + package + "/energy_uj", "99000000\n");
  }
  const auto probe = hostProbe({0}, {7}, root_);
  EXPECT_EQ(probe->quantities().back().name, "power");
  EXPECT_EQ(probe->joules(), 0.0);
  write("sys/class/powercap/intel-rapl:0/energy_uj", "99500000\n");
  write("sys/class/powercap/intel-rapl:1/energy_uj", "1000000\n");
  write("sys/class/powercap/intel-rapl:0:0/energy_uj", "99500000\n");
  EXPECT_DOUBLE_EQ(*probe->joules(), 0.5 + 2.0);
  std::filesystem::remove(root_ / "sys/class/powercap/intel-rapl:1/energy_uj");
  EXPECT_FALSE(probe->joules());
}

TEST(NvmlProbe, ReadsEveryGpuByItsAddress) {
  const auto probe = nvmlProbe({{"cuda:0", "00000000:17:00.0"}, {"cuda:1", "00000000:65:00.0"}}, TANDEM_FAKE_NVML);
  ASSERT_TRUE(probe);
  const auto quantities = probe->quantities();
  std::vector<double> values(quantities.size());
  probe->read(values);
  const std::vector<double> expected{71, 2048, 350.5, 64, 1771, 2619, 1, 1, 0, 0, 0, 0,
                                     72, 2048, 350.5, 64, 1683, 2619, 2, 1, 0, 0, 1, 0};
  EXPECT_EQ(values, expected);
  EXPECT_EQ(quantities[7].name, "slowed by power cap");
  EXPECT_EQ(quantities[22].name, "slowed by heat (hardware)");
  EXPECT_EQ(quantities[4].name, "SM clock");
  EXPECT_EQ(quantities[12].device, "cuda:1") << quantities[12].name;
  EXPECT_DOUBLE_EQ(*probe->joules(), 2 * 1234.5);
}

TEST(NvmlProbe, AGpuThatNvmlDoesNotKnowIsUnknown) {
  const auto probe = nvmlProbe({{"cuda:0", "00000000:FF:00.0"}}, TANDEM_FAKE_NVML);
  ASSERT_TRUE(probe);
  std::vector<double> values(probe->quantities().size());
  probe->read(values);
  for (const double value : values) EXPECT_TRUE(std::isnan(value));
  EXPECT_FALSE(probe->joules());
}

TEST(NvmlProbe, WithoutGpusOrLibraryThereIsNone) {
  EXPECT_FALSE(nvmlProbe({}, TANDEM_FAKE_NVML));
  EXPECT_FALSE(nvmlProbe({{"cuda:0", "00000000:17:00.0"}}, "libno-such-library.so.1"));
}

}  // namespace
}  // namespace tandem
