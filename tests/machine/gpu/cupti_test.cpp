#include "machine/gpu/cupti.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "machine/gpu/demangle.h"
#include "machine/gpu/fake_cupti.h"
#include "support/text_of_failure.h"

namespace tandem {
namespace {

using Tag = Cupti::Tag;

std::unique_ptr<Cupti> openFake(const char* library = TANDEM_FAKE_CUPTI) { return Cupti::open({&library, 1}); }

const DeviceActivity& activityOf(const std::vector<DeviceActivity>& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &DeviceActivity::name);
  if (found == all.end()) throw std::out_of_range(std::string(name));
  return *found;
}

TEST(Cupti, TellsWhatGpusDid) {
  const FakeCupti gpu;
  const auto cupti = openFake();
  cupti->start();
  gpu.kernel(gpu.call(), "_Z3sgdIfEvPT_", 1, 13, {1000, 1500});
  gpu.copy(gpu.call(), 1, 4096, 2000, 2100);
  gpu.copy(gpu.call(), 8, 64, 2200, 2300);
  gpu.peerCopy(gpu.call(), 512, 3000, 3100);
  const auto all = cupti->stop();
  ASSERT_EQ(all.size(), 4U);
  const DeviceActivity& kernel = activityOf(all, "sgd<float>");
  EXPECT_EQ(kernel.device, 1);
  EXPECT_EQ(kernel.stream, 13);
  EXPECT_EQ(kernel.begin, Nanos(1000));
  EXPECT_EQ(kernel.end, Nanos(1500));
  EXPECT_EQ(kernel.bytes, 0);
  EXPECT_EQ(kernel.step, -1) << "no mark";
  EXPECT_EQ(kernel.operation, -1);
  const DeviceActivity& copy = activityOf(all, "copy from host to device");
  EXPECT_EQ(copy.device, 2);
  EXPECT_EQ(copy.stream, 7);
  EXPECT_EQ(copy.bytes, 4096);
  EXPECT_EQ(copy.end, Nanos(2100));
  EXPECT_EQ(activityOf(all, "copy within the device").bytes, 64);
  EXPECT_EQ(activityOf(all, "copy from device to device").bytes, 512);
  EXPECT_EQ(cupti->lost(), 0);
}

TEST(Cupti, ACallsMarksAreThoseOfAllThatItEnqueues) {
  const FakeCupti gpu;
  const auto cupti = openFake();
  cupti->start();
  cupti->push(Tag::step, 40);
  const uint32_t graph = gpu.call();  // one launch
  gpu.kernel(graph, "a", 0, 0, {10, 20});
  gpu.kernel(graph, "b", 0, 0, {20, 30});
  cupti->push(Tag::operation, 6);
  gpu.kernel(gpu.call(), "c", 0, 0, {30, 40});
  std::thread([&] { gpu.kernel(gpu.call(), "elsewhere", 0, 0, {35, 36}); }).join();
  cupti->pop(Tag::operation);
  gpu.peerCopy(gpu.call(), 1, 40, 50);
  cupti->pop(Tag::step);
  gpu.kernel(gpu.call(), "outside", 0, 0, {60, 70});
  const auto all = cupti->stop();
  const auto marksOf = [&](std::string_view name) {
    const DeviceActivity& one = activityOf(all, name);
    return std::pair(one.step, one.operation);
  };
  using Marks = std::pair<int64_t, int64_t>;
  EXPECT_EQ(marksOf("a"), Marks(40, -1));
  EXPECT_EQ(marksOf("b"), Marks(40, -1));
  EXPECT_EQ(marksOf("c"), Marks(40, 6));
  EXPECT_EQ(marksOf("elsewhere"), Marks(-1, -1));
  EXPECT_EQ(marksOf("copy from device to device"), Marks(40, -1));
  EXPECT_EQ(marksOf("outside"), Marks(-1, -1));
}

TEST(Cupti, TellsWhatAGraphDoes) {
  const FakeCupti gpu;
  const auto cupti = openFake();
  cupti->start();
  for (const int inGraph : {0, 1}) {
    gpu.graph(inGraph);
    const uint32_t call = gpu.call();
    gpu.kernel(call, inGraph == 1 ? "launched" : "called", 0, 0, {10, 20});
    gpu.copy(call, 1, 64, 20, 30);
    gpu.peerCopy(call, 64, 30, 40);
  }
  gpu.graph(0);
  const auto all = cupti->stop();
  EXPECT_FALSE(activityOf(all, "called").inGraph);
  EXPECT_TRUE(activityOf(all, "launched").inGraph);
  EXPECT_EQ(all.size(), 6U);
  EXPECT_EQ(std::ranges::count(all, true, &DeviceActivity::inGraph), 3) << "a copy of either way too";
}

TEST(Cupti, KeepsWhatIsBetweenStartAndStop) {
  const FakeCupti gpu;
  const auto cupti = openFake();
  gpu.kernel(gpu.call(), "before", 0, 0, {1, 2});
  for (const char* name : {"first", "second"}) {
    cupti->start();
    for (uint64_t i = 0; i < 20; ++i) gpu.kernel(gpu.call(), name, 0, 0, {10 + i, 11 + i});  // several buffers
    const auto all = cupti->stop();
    EXPECT_EQ(all.size(), 20U);
    for (const DeviceActivity& one : all) EXPECT_EQ(one.name, name);
    gpu.kernel(gpu.call(), "between", 0, 0, {50, 51});
  }
}

TEST(Cupti, CountsWhatIsLost) {
  const FakeCupti gpu;
  const auto cupti = openFake();
  cupti->start();
  gpu.kernel(gpu.call(), "whole", 0, 0, {10, 20});
  gpu.kernel(gpu.call(), "without times", 0, 0, {0, 0});
  gpu.kernel(gpu.call(), "without end", 0, 0, {10, 0});
  gpu.drop(5);
  EXPECT_EQ(cupti->stop().size(), 1U);
  EXPECT_EQ(cupti->lost(), 7);
  cupti->start();
  cupti->stop();
  EXPECT_EQ(cupti->lost(), 0);
}

TEST(Cupti, WhatFailsIsOneLine) {
  EXPECT_EQ(textOfFailure<TracingFailed>([] { openFake("libnosuch.so.1"); }),
            "CUPTI cannot be loaded (libnosuch.so.1)");
  EXPECT_EQ(textOfFailure<TracingFailed>([] { openFake(TANDEM_FAKE_OLD_CUPTI); }),
            "this CUPTI is too old: it must be of CUDA 11.6 or newer");
  const auto forbidden = openFake(TANDEM_FAKE_FORBIDDEN_CUPTI);
  const std::string failure = textOfFailure<TracingFailed>([&] { forbidden->start(); });
  EXPECT_TRUE(
      failure.starts_with("cuptiActivityEnable of CUPTI fails: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES; the driver"))
      << failure;
  const FakeCupti gpu(TANDEM_FAKE_FORBIDDEN_CUPTI);
  EXPECT_EQ(gpu.call(), 0U) << "nothing stays enabled";
}

TEST(KernelName, IsReadable) {
  EXPECT_EQ(kernelName("_Z3sgdIfEvPT_"), "sgd<float>");
  EXPECT_EQ(kernelName("_Z6updatePfi"), "update");
  EXPECT_EQ(kernelName("_ZN12_GLOBAL__N_13addILi4EEEvPKf"), "(anonymous namespace)::add<4>");
  EXPECT_EQ(kernelName("_ZN2at6native4fillIZNS0_3addEvEUlfE_EEvT_"),
            "at::native::fill<at::native::add()::{lambda(float)#1}>");
  EXPECT_EQ(kernelName("sm90_xmma_fprop_implicit_gemm_f16"), "sm90_xmma_fprop_implicit_gemm_f16");
  EXPECT_EQ(kernelName("f"), "f") << "a mangled type, but no symbol";
  EXPECT_EQ(kernelName("_Z"), "_Z");
}

}  // namespace
}  // namespace tandem
