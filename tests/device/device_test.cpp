#include "device/device.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <c10/core/Event.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "machine/cpu/topology.h"
#include "machine/gpu/gpu_facts.h"

namespace tandem {
namespace {

TEST(CpuDevice, HasANameAndALabel) {
  const Device device = Device::cpu(1, {4, 2, 3, 8}, 2);
  EXPECT_EQ(device.name(), "cpu:1");
  EXPECT_EQ(device.label(), "cpu:1 on cores 2-4,8");
  EXPECT_EQ(Device::cpu(0, {}, 1).label(), "cpu:0");
  EXPECT_TRUE(device.isCpu());
}

TEST(CpuDevice, BindPinsTheThreadAndSetsItsTeam) {
  const int thread = readTopology().cores.back().threads.front();
  std::thread([thread] {
    Device::cpu(0, {thread}, 3).bind();
    cpu_set_t mask;
    ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
    EXPECT_EQ(CPU_COUNT(&mask), 1);
    EXPECT_EQ(at::get_num_threads(), 3);
  }).join();
}

TEST(CpuDevice, KeepsItsTeamWhenAnotherThreadBinds) {
  const auto loop = [] { at::parallel_for(0, 64, 1, [](int64_t, int64_t) {}); };
  std::thread([&] {
    Device::cpu(0, {}, 3).bind();
    std::thread([&] {
      Device::cpu(1, {}, 1).bind();
      loop();
      EXPECT_EQ(at::get_num_threads(), 1);
    }).join();
    loop();
    EXPECT_EQ(at::get_num_threads(), 3);
  }).join();
}

TEST(CpuDevice, IsDoneWhenACallReturns) {
  const Device device = Device::cpu(0, {}, 1);
  EXPECT_EQ(device.record(), nullptr);
  device.wait(nullptr);
  device.synchronize();
  EXPECT_FALSE(device.hasStreams());
  EXPECT_FALSE(device.sideStream().has_value());
  EXPECT_FALSE(device.hostMemory().pinned_memory());
}

TEST(CpuDevice, KnowsItsMemory) {
  const Device device = Device::cpu(0, {}, 1);
  EXPECT_GT(device.availableBytes(), 0);
  const int64_t before = device.peakBytes();
  constexpr size_t grown = size_t{300} << 20;
  std::vector<char> memory(grown, 1);
  EXPECT_GE(device.peakBytes() - before, static_cast<int64_t>(grown) / 2);
  EXPECT_EQ(memory[grown - 1], 1);
}

/// A line of /proc/self/status.
int64_t statusBytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word && word != name + ":") {
  }
  int64_t kib = 0;
  status >> kib;
  return kib * 1024;
}

/// 0 where a limit on what the process has and 64 MiB more leaves just that.
template <class Resource>
[[noreturn]] void limitTheProcess(Resource resource, const char* used) {
  constexpr int64_t more = 64 << 20;
  rlimit limit{};
  const bool known = getrlimit(resource, &limit) == 0;
  limit.rlim_cur = static_cast<rlim_t>(statusBytes(used) + more);
  const bool limited = setrlimit(resource, &limit) == 0;
  const int64_t left = Device::cpu(0, {}, 1).availableBytes();
  std::_Exit(known && limited && left > more / 2 && left <= more ? 0 : 1);
}

TEST(CpuDevice, NoMoreIsAvailableThanALimitOfTheProcessLeaves) {
  EXPECT_EXIT(limitTheProcess(RLIMIT_DATA, "VmData"), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(limitTheProcess(RLIMIT_AS, "VmSize"), testing::ExitedWithCode(0), "");
}

TEST(CpuDevice, HasNoAllocatorThatReserves) { EXPECT_EQ(Device::cpu(0, {}, 1).peakReservedBytes(), 0); }

TEST(CudaDevice, RefusesAnIndexThatDoesNotExist) {
  for (const int index : {-1, cudaDeviceCount()}) {
    try {
      Device::cuda(index);
      FAIL() << "accepted " << index;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("cuda:" + std::to_string(index)), std::string::npos) << error.what();
    }
  }
}

TEST(CudaDevice, RecordsAndWaits) {
  if (cudaDeviceCount() == 0) GTEST_SKIP() << "no GPU here";
  const Device device = Device::cuda(0);
  device.bind();
  const Event event = device.record();
  ASSERT_NE(event, nullptr);
  device.wait(event);
  Device::cpu(0, {}, 1).wait(event);
  EXPECT_TRUE(event->query());
  device.synchronize();
  EXPECT_TRUE(device.hasStreams());
  EXPECT_NE(device.sideStream().value().id(), 0) << "the stream that computes";
  EXPECT_TRUE(at::empty({8}, device.hostMemory()).is_pinned());
  EXPECT_GT(device.availableBytes(), 0);
  EXPECT_GE(device.peakBytes(), 0);
  const auto memory = at::empty({1 << 20}, at::TensorOptions().device(device.torch()).dtype(at::kByte));
  EXPECT_GE(device.peakBytes(), 1 << 20);
  EXPECT_GE(device.peakReservedBytes(), device.peakBytes()) << "what is in use is held";
  EXPECT_NE(device.label(), device.name()) << "the label names the product";
}

}  // namespace
}  // namespace tandem
