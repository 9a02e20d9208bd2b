#include "observe/device_tracer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "device/device.h"
#include "executor/compile/op_cost.h"
#include "machine/gpu/fake_cupti.h"
#include "measure/profile/attribution.h"
#include "observe/run_observer.h"
#include "run/measured_run.h"
#include "run/plan/plan.h"
#include "run/plan/replica_set_options.h"
#include "run/plan/select_kernels.h"
#include "run/repeated_work.h"
#include "run/run_point.h"
#include "trace/op_scope.h"

namespace tandem {
namespace {

constexpr uint64_t ms = 1'000'000;
constexpr const char* fakeLibrary = TANDEM_FAKE_CUPTI;
constexpr const char* forbiddenLibrary = TANDEM_FAKE_FORBIDDEN_CUPTI;

DeviceTracerOptions optionsOf(std::vector<int> devices, const char* const& library = fakeLibrary) {
  return {.devices = std::move(devices),
          .works = {{"conv forward", 4e9, 1e6}, {"relu forward", 0, 2e6}},
          .peaks = {1e15, 2e12},
          .libraries = {&library, 1}};
}

/// Of a run with --profile.
DeviceProfile filled(const DeviceTracer& tracer) {
  RunRecord record;
  record.profile.emplace();
  tracer.fill(record);
  return *record.profile->device;
}

/// 10 ms: conv, relu, 1 ms of nothing, sgd.
void launch(const FakeCupti& gpu, uint32_t device, uint64_t at) {
  const uint32_t graph = gpu.call();
  gpu.kernel(graph, "conv", device, 0, {at, at + 6 * ms});
  gpu.kernel(graph, "relu", device, 0, {at + 6 * ms, at + 8 * ms});
  gpu.kernel(graph, "sgd", device, 0, {at + 9 * ms, at + 10 * ms});
}

/// `doStep` has a device do a step from a time on.
template <class Step = decltype(&launch)>
void runWindow(DeviceTracer& tracer, const FakeCupti& gpu, uint32_t devices, int64_t steps, Step doStep = &launch) {
  for (int64_t step = 0; step < steps; ++step) {
    for (uint32_t device = 0; device < devices; ++device) {
      const bool traces = DeviceTracer::traces(step, steps);
      if (traces) tracer.stepsBegin();
      const TracedStep traced(traces ? &tracer : nullptr, step);
      doStep(gpu, device, 100 * ms + 10 * ms * static_cast<uint64_t>(step));
    }
  }
  tracer.stepsEnd(steps);
}

/// One kernel after the other, each with its mark.
void runEagerStep(DeviceTracer& tracer, const FakeCupti& gpu) {
  tracer.eagerBegins();
  {
    TracedStep traced(&tracer, 2);
    const char* names[] = {"conv", "relu"};
    for (uint64_t i = 0; i < 2; ++i) {
      const OpScope mark(static_cast<int64_t>(i));
      gpu.kernel(gpu.call(), names[i], 0, 0, {(1 + i) * ms, (2 + i) * ms});
    }
    gpu.kernel(gpu.call(), "sgd", 0, 0, {4 * ms, 5 * ms});
  }
  gpu.kernel(gpu.call(), "conv", 1, 0, {ms, 2 * ms});  // of another replica, whose thread is not listened to
  tracer.eagerEnds();
}

const WorkGroup& groupOf(const std::vector<WorkGroup>& groups, std::string_view name) {
  const auto found = std::ranges::find(groups, name, &WorkGroup::name);
  if (found == groups.end()) throw std::out_of_range(std::string(name));
  return *found;
}

TEST(DeviceTracer, KeepsTheLastStepsOfAllDevices) {
  const FakeCupti gpu;
  DeviceTracer tracer(optionsOf({0, 1}));
  runEagerStep(tracer, gpu);
  runWindow(tracer, gpu, 2, 10);
  EXPECT_EQ(tracer.activities().size(), 3 * 2 * static_cast<size_t>(DeviceTracer::traced));
  const DeviceProfile profile = filled(tracer);
  EXPECT_EQ(profile.missing, "");
  EXPECT_EQ(profile.flopsPeak, 1e15);
  EXPECT_EQ(profile.bytesPeak, 2e12);
  ASSERT_EQ(profile.devices.size(), 2U);
  for (const GpuTimeline& device : profile.devices) {
    EXPECT_EQ(device.steps, DeviceTracer::measured);
    EXPECT_EQ(device.wall, Nanos(30 * ms));
    EXPECT_EQ(device.idle(), Nanos(3 * ms));
    EXPECT_EQ(groupOf(device.kernels, "conv").flops, 3 * 4e9) << "by the names of the eager step";
    EXPECT_EQ(groupOf(device.operations, "relu forward").bytes, 3 * 2e6);
    EXPECT_EQ(groupOf(device.operations, "").calls, 3) << "sgd";
  }
}

/// 10 ms: a call, a launch, the host's exchange on another stream, one more launch, 1 ms of nothing. Of each launch
/// CUPTI tells that it was the first.
class StepInParts {
 public:
  void operator()(const FakeCupti& gpu, uint32_t device, uint64_t at) {
    gpu.kernel(gpu.call(), "coefficients", device, 7, {at, at + ms});
    const uint32_t own = gpu.call();
    if (first_ == 0) first_ = own;
    gpu.graph(1);
    gpu.kernel(first_, "conv", device, 7, {at + ms, at + 5 * ms});
    gpu.graph(0);
    gpu.kernel(gpu.call(), "sum", device, 8, {at + 4 * ms, at + 9 * ms});
    gpu.graph(1);
    gpu.kernel(first_, "relu", device, 7, {at + 5 * ms, at + 7 * ms});
    gpu.graph(0);
  }

 private:
  uint32_t first_ = 0;
};

TEST(DeviceTracer, AGraphInPartsIsOfTheStepThatLaunchesIt) {
  const FakeCupti gpu;
  DeviceTracer tracer(optionsOf({0, 1}));
  runEagerStep(tracer, gpu);
  runWindow(tracer, gpu, 2, 10, StepInParts());
  const DeviceProfile profile = filled(tracer);
  EXPECT_EQ(profile.missing, "");
  ASSERT_EQ(profile.devices.size(), 2U);
  for (const GpuTimeline& device : profile.devices) {
    EXPECT_EQ(device.wall, Nanos(30 * ms));
    EXPECT_EQ(device.idle(), Nanos(3 * ms));
    EXPECT_EQ(groupOf(device.operations, "conv forward").calls, 3);
    EXPECT_EQ(groupOf(device.operations, "relu forward").calls, 3);
    EXPECT_EQ(groupOf(device.operations, "").calls, 2 * 3) << "coefficients and sums";
  }
}

TEST(DeviceTracer, WithoutAnEagerStepAGraphsOperationsAreNotKnown) {
  const FakeCupti gpu;
  DeviceTracer tracer(optionsOf({0}));
  runWindow(tracer, gpu, 1, 6);
  const DeviceProfile profile = filled(tracer);
  ASSERT_EQ(profile.devices.size(), 1U);
  EXPECT_EQ(profile.devices[0].steps, DeviceTracer::measured);
  ASSERT_EQ(profile.devices[0].operations.size(), 1U);
  EXPECT_EQ(profile.devices[0].operations[0].name, "");
}

TEST(DeviceTracer, WhatIsLostBeforeTheWindowDoesNotCount) {
  const FakeCupti gpu;
  DeviceTracer tracer(optionsOf({0}));
  tracer.eagerBegins();
  gpu.drop(9);
  tracer.eagerEnds();
  tracer.stepsBegin();
  gpu.drop(2);
  runWindow(tracer, gpu, 1, 6);
  EXPECT_EQ(filled(tracer).lost, 2);
}

TEST(DeviceTracer, AWindowMayBeTooShort) {
  const FakeCupti gpu;
  DeviceTracer tracer(optionsOf({0}));
  runWindow(tracer, gpu, 1, 5);
  const DeviceProfile profile = filled(tracer);
  EXPECT_TRUE(profile.missing.starts_with("the window has 5 steps")) << profile.missing;
  EXPECT_TRUE(profile.devices.empty());
  EXPECT_FALSE(DeviceTracer::traces(4, 5));
  EXPECT_TRUE(DeviceTracer::traces(0, 6));
  EXPECT_FALSE(DeviceTracer::traces(3, 10));
  EXPECT_TRUE(DeviceTracer::traces(4, 10));
}

TEST(DeviceTracer, ARunWithoutProfileHasNone) {
  DeviceTracer tracer(optionsOf({0}));
  RunRecord record;
  tracer.fill(record);
  EXPECT_FALSE(record.profile);
}

TEST(DeviceTracer, WithoutTheLibraryTheRunGoesOn) {
  const char* const none = "libnosuch.so.1";
  DeviceTracer tracer(optionsOf({0}, none));
  const FakeCupti gpu;
  runEagerStep(tracer, gpu);
  runWindow(tracer, gpu, 1, 8);
  EXPECT_EQ(threadOpListener, nullptr);
  EXPECT_EQ(filled(tracer).missing, "CUPTI cannot be loaded (libnosuch.so.1)");
}

TEST(DeviceTracer, WithoutThePrivilegeTheRunGoesOn) {
  DeviceTracer tracer(optionsOf({0}, forbiddenLibrary));
  const FakeCupti gpu(forbiddenLibrary);
  runEagerStep(tracer, gpu);
  runWindow(tracer, gpu, 1, 8);
  const DeviceProfile profile = filled(tracer);
  EXPECT_NE(profile.missing.find("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"), std::string::npos) << profile.missing;
  EXPECT_TRUE(profile.devices.empty());
}

TEST(DeviceTracer, ActivitiesOfNoStepAreSaid) {
  const FakeCupti gpu;
  DeviceTracer tracer(optionsOf({0}));
  tracer.stepsBegin();
  launch(gpu, 0, 100 * ms);
  tracer.stepsEnd(6);
  EXPECT_EQ(filled(tracer).missing, "CUPTI told of 3 activities, but not to which steps they belong");
}

/// Every operation that the executor marks is a kernel of "GPU" 0 for as long.
class EveryMarkAKernel {
 public:
  EveryMarkAKernel() { gpu_.automatic(1); }
  ~EveryMarkAKernel() { gpu_.automatic(0); }
  EveryMarkAKernel(const EveryMarkAKernel&) = delete;
  EveryMarkAKernel& operator=(const EveryMarkAKernel&) = delete;

 private:
  FakeCupti gpu_;
};

/// What the graph of a run does on it: of its kernels only the names are known.
class KernelsOfAGraph final : public OpListener {
 public:
  void opBegins(int64_t operation) noexcept override {
    forward_ = operation % 2 == 0;
    begin_ = now();
  }
  void opEnds() noexcept override {
    gpu_.graph(1);
    const auto begin = static_cast<uint64_t>(begin_.count()), end = static_cast<uint64_t>(now().count());
    gpu_.kernel(gpu_.call(), forward_ ? "forward" : "backward", 0, 0, {begin, end});
    gpu_.graph(0);
  }

 private:
  FakeCupti gpu_;
  bool forward_ = false;
  Nanos begin_{};
};

class MeasuredRunOnTheFake : public testing::TestWithParam<bool> {};

TEST_P(MeasuredRunOnTheFake, IsFollowed) {
  const bool recorded = GetParam();
  const EveryMarkAKernel gpu;
  KernelsOfAGraph graphKernels;
  WorkLog log;
  Config config;
  config.network.model = "resnet20";
  config.step.batch = 2;
  config.measurement.warmup = std::string("4");
  config.measurement.steps = 8;
  config.measurement.profile = true;
  const RunPlan plan = resolvePlan(config);
  const Graph& graph = *plan.graph;
  const auto works = opCosts(graph, {}, 2);
  DeviceTracerOptions options = optionsOf({0});
  options.works.clear();
  for (const OpCost& work : works) options.works.push_back({work.name, work.flops, work.bytes});
  DeviceTracer tracer(options);
  Profiler profiler({"a"});
  RunObserver watch(plan.cores, plan.cudaDevices, {});
  ReplicaSetOptions teamed = trainingOptions(plan, selectKernels(plan, *plan.graph));
  if (recorded) {
    teamed.recorder = [&](const Device&) { return std::make_unique<RepeatedGraph>(log, &graphKernels); };
  }
  ReplicaSet team(teamed);
  MeasuredRun run({.config = plan.config,
                   .globalBatch = plan.globalBatch,
                   .graph = &graph,
                   .watch = &watch,
                   .profiler = &profiler,
                   .tracer = &tracer},
                  nullptr);
  team.run([&](ReplicaSet::Member& member) { run.body(member); });
  RunRecord record;
  run.fill(record);
  watch.fill(record);
  EXPECT_EQ(record.steps.size(), 8U);
  EXPECT_EQ(log.size(), recorded ? 1 + 1 + 8U : 0U) << "a record, and launches from the last step of warm-up on";
  ASSERT_TRUE(record.profile && record.profile->device);
  ASSERT_EQ(record.profile->device->missing, "");
  ASSERT_EQ(record.profile->device->devices.size(), 1U);
  const GpuTimeline& steps = record.profile->device->devices.front();
  EXPECT_EQ(steps.steps, DeviceTracer::measured);
  const auto calls = static_cast<int64_t>(works.size() / 2);
  EXPECT_EQ(groupOf(steps.kernels, "forward").calls, calls * steps.steps);
  EXPECT_EQ(groupOf(steps.kernels, "backward").calls, calls * steps.steps);
  double flops = 0;
  for (const WorkGroup& group : steps.operations) {
    EXPECT_EQ(group.knownTime, group.time) << group.name;
    flops += group.flops;
  }
  EXPECT_NEAR(flops / static_cast<double>(steps.steps), 2 * trainingFlops(graph), 1);
  EXPECT_GT(steps.busy, Nanos{});
  EXPECT_LE(steps.busy, steps.wall);
  for (const DeviceActivity& activity : tracer.activities()) {
    EXPECT_GE(activity.step, 2);
    EXPECT_LT(activity.step, 8);
    EXPECT_EQ(activity.inGraph, recorded);
  }
}

INSTANTIATE_TEST_SUITE_P(DeviceTracer, MeasuredRunOnTheFake, testing::Bool(),
                         [](const auto& info) { return std::string(info.param ? "recorded" : "eager"); });

TEST(OnAGpu, AProfileKnowsKernelsAndWhatTheyAreFor) {
  if (cudaDeviceCount() == 0) GTEST_SKIP() << "no GPU here";
  for (const char* graph : {"off", "on"}) {
    Config config;
    config.network.model = "resnet20";
    config.placement.devices = "cuda:0";
    config.step.batch = 64;
    config.numerics.cudaGraph = graph;
    config.measurement.warmup = std::string("6");
    config.measurement.steps = 12;
    config.measurement.profile = true;
    const RunRecord record = runPoint(resolvePlan(config), nullptr);
    ASSERT_EQ(record.outcome.kind, OutcomeKind::ok) << record.outcome.reason;
    EXPECT_EQ(record.placement.cudaGraph, std::string(graph) == "on" ? "on" : "off: --cuda-graph=off");
    ASSERT_TRUE(record.profile && record.profile->device);
    EXPECT_EQ(isCaptured(*record.profile), std::string(graph) == "on");
    const DeviceProfile& profile = *record.profile->device;
    ASSERT_EQ(profile.missing, "") << graph;
    EXPECT_EQ(profile.lost, 0) << graph;
    ASSERT_EQ(profile.devices.size(), 1U) << graph;
    const GpuTimeline& steps = profile.devices.front();
    EXPECT_EQ(steps.steps, DeviceTracer::measured);
    EXPECT_GT(steps.busy, Nanos{});
    EXPECT_LE(steps.busy, steps.wall);
    double flops = 0;
    for (const WorkGroup& group : steps.operations) flops += group.flops;
    const double all = 64 * record.placement.flopsPerImage * static_cast<double>(steps.steps);
    EXPECT_NEAR(flops, all, 0.01 * all) << graph << ": some convolution's kernels are of no operation";
  }
}

}  // namespace
}  // namespace tandem
