#include "device/device_thread_pool.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <array>
#include <latch>
#include <stdexcept>
#include <string>

namespace tandem {
namespace {

std::vector<Device> twoDevices() { return {Device::cpu(0, {}, 3), Device::cpu(1, {}, 2)}; }

TEST(DeviceThreads, RunWorkAtOnceOnThreadsBoundToTheirDevices) {
  DeviceThreads threads(twoDevices());
  ASSERT_EQ(threads.count(), 2u);
  std::array<int, 2> sizes{};
  std::array<std::thread::id, 2> ids{};
  std::latch together(2);
  threads.run([&](size_t device) {
    together.arrive_and_wait();  // for ever, unless all run at once
    sizes[device] = at::get_num_threads();
    ids[device] = std::this_thread::get_id();
  });
  EXPECT_EQ(sizes, (std::array{3, 2}));
  threads.run([&](size_t device) { EXPECT_EQ(std::this_thread::get_id(), ids[device]) << "the same thread again"; });
}

TEST(DeviceThreads, TheFirstFailureIsThrownWhenAllAreBackAndTheNextRunGoesOn) {
  DeviceThreads threads(twoDevices());
  std::array<int, 2> calls{};
  const auto failing = [&](size_t device) {
    ++calls[device];
    throw std::runtime_error(device == 0 ? "zero" : "one");
  };
  std::string what;
  try {
    threads.run(failing);
  } catch (const std::runtime_error& failure) {
    what = failure.what();
  }
  EXPECT_EQ(what, "zero");
  EXPECT_EQ(calls, (std::array{1, 1}));
  EXPECT_NO_THROW(threads.run([&](size_t device) { ++calls[device]; }));
  EXPECT_EQ(calls, (std::array{2, 2}));
}

}  // namespace
}  // namespace tandem
