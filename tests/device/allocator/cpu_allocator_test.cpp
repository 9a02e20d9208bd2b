#include "device/allocator/cpu_allocator.h"

#include <ATen/ATen.h>
#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <set>
#include <thread>
#include <vector>

#include "device/allocator/size_classes.h"

namespace tandem {
namespace {

class CpuAllocator : public testing::Test {
 protected:
  void SetUp() override {
#ifdef TANDEM_SANITIZED
    GTEST_SKIP() << "the allocator is off under sanitizers";
#endif
    installCpuAllocator();
  }
  c10::Allocator& allocator() { return *c10::GetCPUAllocator(); }
};

TEST(SizeClasses, HoldTheRequestAndWasteAtMostAFifth) {
  for (size_t bytes = 1; bytes <= (size_t{256} << 10); bytes = bytes * 9 / 8 + 1) {
    const int sizeClass = SizeClasses::classOf(bytes);
    ASSERT_LT(sizeClass, SizeClasses::count);
    ASSERT_GE(SizeClasses::bytesOf(sizeClass), bytes);
    if (sizeClass > 0) {
      ASSERT_LT(SizeClasses::bytesOf(sizeClass - 1), bytes) << "the next smaller class would do";
      ASSERT_LE(static_cast<double>(SizeClasses::bytesOf(sizeClass)), 1.25 * static_cast<double>(bytes) + 1);
    }
    ASSERT_EQ(SizeClasses::bytesOf(sizeClass) % 64, 0U);
  }
}

TEST_F(CpuAllocator, GivesAlignedWritableMemoryOfEverySize) {
  for (size_t bytes = 1; bytes <= (size_t{64} << 20); bytes = bytes * 3 / 2 + 1) {
    const auto memory = allocator().allocate(bytes);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(memory.get()) % 64, 0U) << bytes;
    ASSERT_EQ(memory.get(), memory.get_context());
    std::memset(memory.get(), 0x5a, bytes);
  }
}

TEST_F(CpuAllocator, ServesEmptyRequestsAndTheRawInterface) {
  EXPECT_EQ(allocator().allocate(0).get(), nullptr);
  ASSERT_NE(allocator().raw_deleter(), nullptr);
  allocator().raw_deallocate(allocator().raw_allocate(0));
  void* const memory = allocator().raw_allocate(1000);
  std::memset(memory, 1, 1000);
  allocator().raw_deallocate(memory);
}

TEST_F(CpuAllocator, NeverGivesTheSameMemoryTwice) {
  std::vector<c10::DataPtr> live;
  std::vector<size_t> sizes;
  for (int i = 0; i < 400; ++i) {
    sizes.push_back(static_cast<size_t>(1 + (i * 7919) % 300000));
    live.push_back(allocator().allocate(sizes.back()));
    std::memset(live.back().get(), i % 251, sizes.back());
    if (i % 3 == 0) live[static_cast<size_t>(i) / 2].clear();
  }
  for (size_t i = 0; i < live.size(); ++i) {
    const auto* bytes = static_cast<const unsigned char*>(live[i].get());
    if (!bytes) continue;
    for (size_t at : {size_t{0}, sizes[i] / 2, sizes[i] - 1}) ASSERT_EQ(bytes[at], i % 251) << i;
  }
}

TEST_F(CpuAllocator, ReusesFreedMemoryWithoutAskingTheSystem) {
  const auto step = [this] {
    std::vector<c10::DataPtr> live;
    for (size_t bytes : {100, 5000, 70000, 3 << 20, 3 << 20, 20 << 20}) live.push_back(allocator().allocate(bytes));
  };
  step();
  const auto before = cpuAllocatorUse();
  for (int i = 0; i < 10; ++i) step();
  EXPECT_EQ(cpuAllocatorUse().misses, before.misses);
  EXPECT_EQ(cpuAllocatorUse().heldBytes, before.heldBytes);
}

TEST_F(CpuAllocator, CutsALargerBlockAndJoinsWhatIsFreedBeforeAskingTheSystem) {
  constexpr size_t large = size_t{40} << 20;
  allocator().allocate(large).clear();
  const auto before = cpuAllocatorUse();
  std::vector<c10::DataPtr> parts;
  for (int i = 0; i < 9; ++i) parts.push_back(allocator().allocate(large / 10));
  for (const size_t i : {4, 0, 8, 2, 6, 1, 3, 7, 5}) parts[i].clear();
  const auto whole = allocator().allocate(large);
  EXPECT_EQ(cpuAllocatorUse().misses, before.misses);
  EXPECT_EQ(cpuAllocatorUse().heldBytes, before.heldBytes);
}

// Sizes as of a training step: what is kept grows, what is on its way comes and goes, and then all is freed backwards.
TEST_F(CpuAllocator, HoldsLittleMoreThanWasEverInUseAtOnce) {
  const auto before = cpuAllocatorUse();
  std::thread([&] {
    size_t kept = 0, most = 0;
    for (int step = 0; step < 3; ++step) {
      std::vector<c10::DataPtr> live;
      kept = 0;
      for (size_t i = 0; i < 60; ++i) {
        const size_t bytes = (size_t{1} << 20) * (1 + i * 37 % 23) + i * 4000;
        const auto onItsWay = allocator().allocate(bytes * 3 / 2);
        live.push_back(allocator().allocate(bytes));
        kept += bytes;
        most = std::max(most, kept + bytes * 3 / 2);
      }
      while (!live.empty()) live.pop_back();
    }
    EXPECT_LE(static_cast<double>(cpuAllocatorUse().heldBytes - before.heldBytes), 1.15 * static_cast<double>(most));
  }).join();
}

TEST_F(CpuAllocator, StaggersEquallyLargeBlocks) {
  std::vector<c10::DataPtr> live;
  std::set<uintptr_t> offsets;
  for (int i = 0; i < 8; ++i) {
    live.push_back(allocator().allocate(size_t{200} << 20));
    offsets.insert(reinterpret_cast<uintptr_t>(live.back().get()) % 4096);
  }
  EXPECT_EQ(offsets.size(), live.size());
}

TEST_F(CpuAllocator, AnyThreadMayFree) {
  constexpr int rounds = 50;
  for (int round = 0; round < rounds; ++round) {
    std::vector<c10::DataPtr> made(64);
    std::thread maker([&] {
      for (size_t i = 0; i < made.size(); ++i) made[i] = allocator().allocate(1000 * (i + 1));
    });
    maker.join();
    std::thread([&] { made.resize(32); }).join();
    made.clear();
  }
  const auto before = cpuAllocatorUse();
  std::thread([&] { const auto memory = allocator().allocate(1000); }).join();
  EXPECT_EQ(cpuAllocatorUse().misses, before.misses) << "a new thread takes over the blocks of an ended one";
}

TEST_F(CpuAllocator, ThreadsAllocateAndFreeConcurrently) {
  std::vector<std::thread> threads;
  std::atomic<int> broken{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::vector<c10::DataPtr> live(16);
      for (int i = 0; i < 5000; ++i) {
        const size_t bytes = static_cast<size_t>(8 + (i * 131 + t * 17) % 20000);
        auto& slot = live[static_cast<size_t>(i) % live.size()];
        if (slot && *static_cast<int*>(slot.get()) != t) ++broken;
        slot = allocator().allocate(bytes);
        *static_cast<int*>(slot.get()) = t;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(broken, 0);
}

TEST_F(CpuAllocator, NamesTheBytesWhenTheSystemRefuses) {
  for (const size_t bytes : {size_t{1} << 46, std::numeric_limits<size_t>::max() / 2}) {
    try {
      allocator().allocate(bytes);
      FAIL() << "allocated " << bytes;
    } catch (const c10::OutOfMemoryError& error) {
      EXPECT_NE(std::string(error.what()).find(std::to_string(bytes)), std::string::npos) << error.what();
    }
  }
}

TEST_F(CpuAllocator, ConvolutionsRunOnItWithoutMissesInTheSteadyState) {
  const auto images = at::randn({4, 16, 32, 32}).contiguous(at::MemoryFormat::ChannelsLast);
  const auto weights = at::randn({32, 16, 3, 3}).contiguous(at::MemoryFormat::ChannelsLast);
  const auto expected = at::conv2d(images, weights, {}, 1, 1);
  for (int i = 0; i < 3; ++i) at::conv2d(images, weights, {}, 1, 1);
  const auto before = cpuAllocatorUse();
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(at::equal(at::conv2d(images, weights, {}, 1, 1), expected));
  EXPECT_EQ(cpuAllocatorUse().misses, before.misses);
}

}  // namespace
}  // namespace tandem
