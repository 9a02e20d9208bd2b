#include "measure/profile/gpu_timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "measure/record_example.h"

namespace tandem {
namespace {

DeviceActivity kernel(const char* name, double begin, double end, int64_t step, int64_t operation = -1) {
  return {.name = name, .begin = millis(begin), .end = millis(end), .step = step, .operation = operation};
}

DeviceActivity copy(double begin, double end, int64_t step) {
  DeviceActivity activity = kernel("copy", begin, end, step);
  activity.stream = 1, activity.bytes = 1'000'000;
  return activity;
}

const std::vector<OpDemand> works{{"conv forward", 6e9, 3e6}, {"relu forward", 0, 2e6}, {"conv forward", 2e9, 1e6}};

/// Steps of 10 ms: a convolution by two kernels, a gap of 1 ms, a kernel of no operation; the copy of the next step
/// runs beside the last kernel and reaches 0.5 ms over it.
std::vector<DeviceActivity> stepsOf(int device, int64_t first, int64_t end) {
  std::vector<DeviceActivity> all;
  for (int64_t step = first; step < end; ++step) {
    const double at = 10.0 * static_cast<double>(step);
    all.push_back(kernel("transform", at, at + 1, step, 0));
    all.push_back(kernel("conv", at + 1, at + 4, step, 0));
    all.push_back(kernel("update", at + 5, at + 9, step));
    all.push_back(copy(at + 8, at + 9.5, step));
  }
  for (DeviceActivity& activity : all) activity.device = device;
  return all;
}

const WorkGroup& groupOf(const std::vector<WorkGroup>& groups, std::string_view name) {
  const auto found = std::ranges::find(groups, name, &WorkGroup::name);
  if (found == groups.end()) throw std::out_of_range(std::string(name));
  return *found;
}

TEST(GpuTimeline, areBusyWhereAnyStreamIs) {
  const auto found = gpuTimeline(stepsOf(0, 3, 7), 0, {.first = 4, .end = 6}, works);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->steps, 2);
  EXPECT_EQ(found->wall, millis(20));
  EXPECT_EQ(found->idle(), millis(3)) << "1 ms after the convolution, 0.5 ms after the copy, twice";
}

TEST(GpuTimeline, sayBetweenWhichKernelsTheDeviceIsIdle) {
  std::vector<DeviceActivity> all = stepsOf(0, 3, 7);
  all[6].begin += millis(0.25);  // step 4's update
  const auto gaps = gpuTimeline(all, 0, {.first = 4, .end = 6}, works)->gaps;
  const std::vector<DeviceGap> expected{{"conv", "update", 2, millis(2.25), millis(1.25)},
                                        {"copy", "transform", 2, millis(1), millis(0.5)}};
  EXPECT_EQ(gaps, expected);
}

TEST(GpuTimeline, whatBeganBeforeTheyDidKeepsThemBusy) {
  std::vector<DeviceActivity> all = stepsOf(0, 3, 7);
  all.push_back(kernel("long", 39, 44.5, 3));  // into step 4, over most of its gap
  const auto found = gpuTimeline(all, 0, {.first = 4, .end = 6}, works);
  EXPECT_EQ(found->idle(), millis(2.5));
  EXPECT_EQ(found->gaps[0].total, millis(1));
  for (const WorkGroup& group : found->kernels) EXPECT_NE(group.name, "long") << "it is the step's before";
}

TEST(GpuTimeline, groupKernelsByNameAndSpreadAnOperationsWorkByTime) {
  const auto found = gpuTimeline(stepsOf(0, 3, 7), 0, {.first = 4, .end = 6}, works);
  const WorkGroup& conv = groupOf(found->kernels, "conv");
  EXPECT_EQ(conv.calls, 2);
  EXPECT_EQ(conv.time, millis(6));
  EXPECT_EQ(conv.knownTime, millis(6));
  EXPECT_DOUBLE_EQ(conv.flops, 2 * 6e9 * 3 / 4);
  EXPECT_DOUBLE_EQ(conv.bytes, 2 * 3e6 * 3 / 4);
  EXPECT_EQ(conv.operations, std::vector<std::string>{"conv forward"});
  EXPECT_DOUBLE_EQ(groupOf(found->kernels, "transform").flops, 2 * 6e9 / 4);
  const WorkGroup& update = groupOf(found->kernels, "update");
  EXPECT_EQ(update.knownTime, Nanos{});
  EXPECT_EQ(update.bytes, 0);
  EXPECT_TRUE(update.operations.empty());
  const WorkGroup& copied = groupOf(found->kernels, "copy");
  EXPECT_EQ(copied.bytes, 2e6);
  EXPECT_EQ(copied.knownTime, copied.time);
  EXPECT_EQ(found->kernels.front().name, "update") << "the one with the most time comes first";
}

TEST(GpuTimeline, groupOperationsByTheirKind) {
  std::vector<DeviceActivity> all = stepsOf(0, 3, 7);
  for (int64_t step = 3; step < 7; ++step) {
    const double at = 10.0 * static_cast<double>(step);
    all.push_back(kernel("conv", at + 4, at + 4.5, step, 2));
    all.push_back(kernel("relu", at + 4.5, at + 5, step, 1));
  }
  const auto found = gpuTimeline(all, 0, {.first = 4, .end = 6}, works);
  const WorkGroup& conv = groupOf(found->operations, "conv forward");
  EXPECT_EQ(conv.time, millis(9));
  EXPECT_DOUBLE_EQ(conv.flops, 2 * 8e9) << "all that both do";
  EXPECT_DOUBLE_EQ(conv.bytes, 2 * 4e6);
  EXPECT_EQ(groupOf(found->operations, "relu forward").flops, 0);
  EXPECT_EQ(groupOf(found->operations, "").time, millis(8 + 3)) << "updates and copies are of no operation";
}

TEST(GpuTimeline, anOperationOutsideThePlanOrOfNoStepIsNotKnown) {
  std::vector<DeviceActivity> all = stepsOf(0, 3, 7);
  all.push_back(kernel("strange", 44, 44.5, 4, 99));
  all.push_back(kernel("lost", 44.5, 45, -1, 1));
  const auto found = gpuTimeline(all, 0, {.first = 4, .end = 6}, works);
  for (const char* name : {"strange", "lost"}) {
    EXPECT_EQ(groupOf(found->kernels, name).calls, 1) << name;
    EXPECT_EQ(groupOf(found->kernels, name).knownTime, Nanos{}) << name;
  }
}

TEST(GpuTimeline, areThoseOfOneDevice) {
  std::vector<DeviceActivity> all = stepsOf(0, 3, 7);
  for (DeviceActivity& activity : stepsOf(1, 3, 7)) {
    activity.begin += millis(4.2), activity.end += millis(4.2);
    all.push_back(activity);
  }
  for (const int device : {0, 1}) {
    const auto found = gpuTimeline(all, device, {.first = 4, .end = 6}, works);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->device, device);
    EXPECT_EQ(found->idle(), millis(3)) << device;
  }
  EXPECT_FALSE(gpuTimeline(all, 2, {.first = 4, .end = 6}, works));
}

TEST(GpuTimeline, needTheirFirstAndTheOneAfterTheLast) {
  const auto all = stepsOf(0, 3, 7);
  EXPECT_FALSE(gpuTimeline(all, 0, {.first = 2, .end = 6}, works));
  EXPECT_FALSE(gpuTimeline(all, 0, {.first = 4, .end = 7}, works));
  EXPECT_TRUE(gpuTimeline(all, 0, {.first = 3, .end = 6}, works));
}

TEST(GpuTimeline, ofAGraphAdoptTheOperationsOfAnEagerStep) {
  std::vector<DeviceActivity> eager{kernel("conv", 0, 1, -1, 0), kernel("relu", 1, 2, -1, 1),
                                    kernel("conv", 2, 3, -1, 2), kernel("update", 3, 4, -1),
                                    kernel("once", 4, 5, -1, 1)};
  std::vector<DeviceActivity> graph;
  for (int64_t step = 5; step < 7; ++step) {
    const double at = 10.0 * static_cast<double>(step);
    const char* names[] = {"conv", "relu", "conv", "update", "once", "once", "new"};
    const double after[] = {6, 2, 0, 8, 3, 4, 5};
    for (size_t i = 0; i < 7; ++i) graph.push_back(kernel(names[i], at + after[i], at + after[i] + 1, step));
  }
  graph.push_back(kernel("conv", 1, 2, -1));
  adoptOperations(graph, eager);
  for (size_t first : {size_t{0}, size_t{7}}) {
    const int64_t expected[] = {2, 1, 0, -1, -1, -1, -1};  // in the order of their begins; "once" runs twice there
    for (size_t i = 0; i < 7; ++i) EXPECT_EQ(graph[first + i].operation, expected[i]) << i;
  }
  EXPECT_EQ(graph.back().operation, -1) << "of no step";
}

TEST(GpuTimeline, ofSeveralDevicesAllAdoptTheOperationsOfTheOneEagerStep) {
  const std::vector<DeviceActivity> eager{kernel("conv", 0, 1, -1, 0), kernel("conv", 1, 2, -1, 2)};
  std::vector<DeviceActivity> graph;
  for (const int device : {1, 0}) {
    for (const int64_t step : {5, 6}) {
      for (const double after : {1.0, 0.0}) {
        graph.push_back(kernel("conv", 10.0 * static_cast<double>(step) + after + 0.5 * device, 0, step));
        graph.back().device = device;
      }
    }
  }
  adoptOperations(graph, eager);
  for (size_t i = 0; i < graph.size(); ++i) EXPECT_EQ(graph[i].operation, i % 2 == 0 ? 2 : 0) << i;
}

TEST(GpuTimeline, ofGraphsAreThoseOfTheCallsBeforeThem) {
  const auto launched = [](double begin, int device, int64_t told) {
    DeviceActivity activity = kernel("conv", begin, begin + 1, told);
    activity.device = device, activity.inGraph = true;
    return activity;
  };
  const auto called = [](double begin, int device, int64_t step) {
    DeviceActivity activity = kernel("coefficients", begin, begin + 1, step);
    activity.device = device;
    return activity;
  };
  std::vector<DeviceActivity> all{launched(12, 0, 7),  launched(1, 0, 3), called(10, 0, 5),
                                  launched(22, 0, -1), called(15, 0, -1), launched(16, 0, 6),
                                  launched(21, 1, 5),  called(20, 0, 6),  called(11, 1, 4)};
  adoptSteps(all);
  const int64_t expected[] = {5, 3, 5, 6, -1, 5, 4, 6, 4};
  for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].step, expected[i]) << i;
}

TEST(GpuTimeline, anOperationThatIsKnownStays) {
  const std::vector<DeviceActivity> eager{kernel("conv", 0, 1, -1, 0)};
  std::vector<DeviceActivity> own{kernel("conv", 50, 51, 5, 2)};
  adoptOperations(own, eager);
  EXPECT_EQ(own.front().operation, 2);
}

}  // namespace
}  // namespace tandem
