#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <thread>
#include <utility>

#include "base/catalog.h"
#include "base/text.h"
#include "device/call_timer.h"
#include "device/captured_graph.h"
#include "device/rng.h"
#include "kernels/loss/losses.h"
#include "models/model.h"
#include "run/gpu_training.h"
#include "run/plan/replica_set_options.h"
#include "train/replica_set.h"

namespace tandem {
namespace {

/// Eight steps, the same in every run.
GpuTraining train(Config config) {
  config.numerics.deterministic = true;
  return trainOnGpu(std::move(config));
}

TEST(OnAGpu, AGraphTrainsToTheSameBits) {
  if (cudaDeviceCount() == 0) GTEST_SKIP() << "no GPU here";
  for (const char* model : {"resnet20", "alexnet_cifar", "mobilenet_v2"}) {
    for (const char* precision : {"fp32", "bf16"}) {
      for (const char* input : {"device", "host", "queue"}) {
        Config config;
        config.network.model = model;
        config.numerics.precision = precision;
        config.input.source = input;
        config.numerics.cudaGraph = "off";
        const GpuTraining eager = train(config);
        config.numerics.cudaGraph = "on";
        const GpuTraining graphed = train(config);
        EXPECT_TRUE(graphed.sameBits(eager)) << model << ' ' << precision << ' ' << input;
      }
    }
  }
}

// The host runs ahead of the launches and waits for each of the other steps.
TEST(OnAGpu, AGraphIsThatOfEveryStepOfAnOptimizerAndASchedule) {
  if (cudaDeviceCount() == 0) GTEST_SKIP() << "no GPU here";
  for (const OptimizerEntry& optimizer : optimizers()) {
    for (const ScheduleEntry& schedule : schedules()) {
      Config config;
      config.network.model = "resnet20";
      config.step.optimizer = concat(optimizer.name);
      config.step.schedule = concat(schedule.name);
      config.measurement.steps = 8;
      config.numerics.cudaGraph = "off";
      config.numerics.inFlight = 1;
      const GpuTraining eager = train(config);
      config.numerics.cudaGraph = "on";
      config.numerics.inFlight = 8;
      const GpuTraining graphed = train(config);
      EXPECT_TRUE(graphed.sameBits(eager)) << optimizer.name << ' ' << schedule.name;
    }
  }
}

TEST(OnAGpu, CallsOfTheHostAreMadeAmidEachLaunch) {
  if (cudaDeviceCount() == 0) GTEST_SKIP() << "no GPU here";
  const Device device = Device::cuda(0);
  device.bind();
  const at::Tensor value = at::zeros({1}, device.torch());
  std::vector<double> seen;
  const auto work = makeCapturedGraph(device);
  work->record(
      [&] {
        value.add_(1);
        work->call([&] {
          seen.push_back(value.item<double>());  // waits, as no recorded work may
          value.mul_(10);
        });
        value.add_(5);
      },
      at::globalContext().defaultGenerator(device.torch()));
  EXPECT_TRUE(seen.empty());
  for (int i = 0; i < 3; ++i) work->launch();
  EXPECT_EQ(seen, (std::vector<double>{1, 16, 166}));
  EXPECT_EQ(value.item<double>(), 1665);
}

TEST(OnAGpu, LaunchesDrawNewNumbers) {
  if (cudaDeviceCount() == 0) GTEST_SKIP() << "no GPU here";
  const Device device = Device::cuda(0);
  device.bind();
  const auto generator = at::globalContext().defaultGenerator(device.torch());
  const at::Tensor drawn = at::zeros({1024}, device.torch());
  const auto work = makeCapturedGraph(device);
  work->record([&] { at::Tensor(drawn).uniform_(0, 1, generator); }, generator);
  work->launch();
  const at::Tensor first = drawn.cpu();
  work->launch();
  EXPECT_FALSE(first.equal(drawn.cpu()));
  EXPECT_GT(first.abs().sum().item<double>(), 0);
}

TEST(OnAGpu, WhatWaitsCannotBeRecordedAndTheDeviceGoesOn) {
  if (cudaDeviceCount() == 0) GTEST_SKIP() << "no GPU here";
  const Device device = Device::cuda(0);
  device.bind();
  const at::Tensor value = at::ones({4}, device.torch());
  const auto generator = at::globalContext().defaultGenerator(device.torch());
  EXPECT_THROW(makeCapturedGraph(device)->record([&] { value.sum().item<double>(); }, generator), c10::Error);
  EXPECT_EQ((value + 1).sum().item<double>(), 8);
  EXPECT_TRUE(at::randn({4}, device.torch()).isfinite().all().item<bool>()) << "generators draw again";
  const auto work = makeCapturedGraph(device);
  work->record([&] { at::Tensor(value).uniform_(2, 3, generator); }, generator);
  work->launch();
  EXPECT_GE(value.min().item<double>(), 2);
}

TEST(OnAGpu, ACaptureReplacesTheOneBefore) {
  if (cudaDeviceCount() == 0) GTEST_SKIP() << "no GPU here";
  const Device device = Device::cuda(0);
  device.bind();
  const at::Tensor value = at::zeros({1 << 20}, device.torch());
  const at::Generator generator = newGenerator(device.torch(), 1);
  const auto work = makeCapturedGraph(device);
  const auto added = [&](double number) {
    work->record([&] { value.add_(at::full_like(value, number)); }, generator);
    work->launch();
    return value.mean().item<double>();
  };
  EXPECT_EQ(added(1), 1);
  EXPECT_EQ(added(10), 11);
  EXPECT_THROW(work->record([&] { value.sum().item<double>(); }, generator), c10::Error);
  EXPECT_EQ(added(100), 111) << "after a capture that failed";
}

TEST(OnAGpu, CallsAreTimedInAGraph) {
  if (cudaDeviceCount() == 0) GTEST_SKIP() << "no GPU here";
  const Device device = Device::cuda(0);
  device.bind();
  const at::Tensor value = at::zeros({1 << 20}, device.torch());
  CallTimer timer(device, makeCapturedGraph);
  EXPECT_GT(timer.secondsOf([&] { value.add_(1); }), 0);
  EXPECT_EQ(value.mean().item<double>(), 1 + 4 * 8) << "once before, then in four launches";
  EXPECT_GT(timer.secondsOf([&] { value.sum().item<double>(); }), 0) << "which cannot be captured";
}

// As two replicas of one GPU: they share its default generator, which libtorch takes for every graph's.
TEST(OnAGpu, ALaunchGoesOnAmidTheRecordingOfAnother) {
  if (cudaDeviceCount() == 0) GTEST_SKIP() << "no GPU here";
  const Device device = Device::cuda(0);
  device.bind();
  const at::Tensor value = at::zeros({1}, device.torch()), other = at::zeros({1}, device.torch());
  const auto first = makeCapturedGraph(device), second = makeCapturedGraph(device);
  first->record([&] { value.add_(1); }, newGenerator(device.torch(), 1));
  second->record(
      [&] {
        other.add_(1);
        std::thread([&] {
          device.bind();
          EXPECT_NO_THROW(first->launch());
        }).join();
      },
      newGenerator(device.torch(), 2));
  second->launch();
  EXPECT_EQ(value.item<double>(), 1);
  EXPECT_EQ(other.item<double>(), 1);
}

TEST(OnAGpu, TheLossOfBoxesCanBeRecorded) {
  if (cudaDeviceCount() == 0) GTEST_SKIP() << "no GPU here";
  const Device device = Device::cuda(0);
  device.bind();
  const Loss loss =
      std::ranges::find(losses(), &find(taskLosses(), "multibox", "loss"), &LossEntry::task)->on(device.torch(), {});
  const at::Tensor output = at::randn({2, (4 + 5) * ssdDefaultBoxes().size(0)}, device.torch());
  at::Tensor labels = at::zeros({2, multiboxObjects, multiboxNumbers});
  labels[0][0].copy_(at::tensor({1.F, 0.1F, 0.1F, 0.6F, 0.7F}));
  labels = labels.to(device.torch());
  const LossAndGradient eager = loss(output, labels, 0, 2);
  LossAndGradient recorded;
  const auto work = makeCapturedGraph(device);
  work->record([&] { recorded = loss(output, labels, 0, 2); }, newGenerator(device.torch(), 1));
  work->launch();
  EXPECT_TRUE(recorded.loss.equal(eager.loss));
  EXPECT_TRUE(recorded.gradient.equal(eager.gradient));
}

}  // namespace
}  // namespace tandem
