#include "kernels/optimizer/device_hyperparameters.h"

#include "base/error.h"
#include "kernels/optimizer/adam.h"
#include "kernels/optimizer/adam_kernel.h"
#include "kernels/optimizer/sgd.h"
#include "kernels/optimizer/sgd_kernel.h"
#include "prepared.h"
#include "support/test_devices.h"

namespace tandem {
namespace {

constexpr int64_t count = 1003;

at::Tensor wave(double phase) { return at::sin(at::arange(count) * 0.3 + phase); }

struct State {
  at::Tensor master = wave(0.5), gradient = at::zeros({count}), first = at::zeros({count}), second = at::zeros({count});
  UpdateTensors tensors() {
    return {master.data_ptr<float>(), nullptr, gradient.const_data_ptr(), Element::fp32, Element::fp32};
  }
};

SgdHyperparameters sgdAt(int64_t step) {
  return {.rate = 0.1F / static_cast<float>(step + 1), .momentum = 0.9F, .weightDecay = 0.01F, .scale = 0.5F};
}

// What a record keeps of an update are its arguments.
TEST(DeviceHyperparameters, SgdIsTheSameUpdateInEveryStep) {
  State kept, eager;
  auto there = prepared(SgdHyperparameters{.rate = 1e3F});
  const SgdArguments arguments{kept.tensors(), kept.first.data_ptr<float>(), there.get(), nullptr};
  for (int64_t step = 0; step < 5; ++step) {
    kept.gradient.copy_(wave(static_cast<double>(step)));
    there.set(sgdAt(step));
    cpu::sgdUpdate(arguments, 0, count);
    sgdUpdate(eager.master, eager.master, kept.gradient, eager.first, prepared(sgdAt(step)));
    EXPECT_TRUE(at::equal(kept.master, eager.master)) << step;
  }
}

// With a scaled loss, two steps of which were skipped.
TEST(DeviceHyperparameters, AdamIsTheSameUpdateInEveryStep) {
  for (const bool decoupled : {false, true}) {
    State kept, eager;
    const float scale = 4, overflow = 0;
    double skipped = 0;
    const ScaledLoss scaled{&scale, &overflow, &skipped};
    auto there = prepared(AdamHyperparameters{.rate = 1e3});
    const AdamArguments arguments{kept.tensors(), kept.first.data_ptr<float>(), kept.second.data_ptr<float>(),
                                  there.get()};
    for (int64_t step = 0; step < 6; ++step) {
      if (step == 1 || step == 4) {
        ++skipped;
        continue;
      }
      kept.gradient.copy_(wave(static_cast<double>(step)) * scale);
      AdamHyperparameters now{.rate = 0.1 / static_cast<double>(step + 1), .weightDecay = 0.1, .scale = 0.5};
      now.number = step + 1, now.decoupled = decoupled, now.scaled = scaled;
      there.set(now);
      cpu::adamUpdate(arguments, 0, count);
      now.number -= static_cast<int64_t>(skipped), now.scale /= scale, now.scaled = {};
      adamUpdate(eager.master, eager.master, kept.gradient, {eager.first, eager.second}, prepared(now));
      EXPECT_TRUE(at::equal(kept.master, eager.master)) << step;
    }
  }
}

TEST(DeviceHyperparameters, WhatHasOverflowedIsKnownWhenTheUpdateRuns) {
  State state;
  float overflow = 0;
  const float scale = 1;
  const auto step = prepared(SgdHyperparameters{.rate = 1, .scaled = {&scale, &overflow, nullptr}});
  const at::Tensor before = state.master.clone(), gradient = at::ones({count});
  at::Tensor none;
  overflow = 1;
  sgdUpdate(state.master, state.master, gradient, none, step);
  EXPECT_TRUE(at::equal(state.master, before));
  overflow = 0;
  sgdUpdate(state.master, state.master, gradient, none, step);
  EXPECT_TRUE(at::equal(state.master, before - 1));
}

// The host has given a GPU all steps long before the first is done.
TEST(DeviceHyperparameters, StepsThatWaitForTheirTurnKeepTheirOwnValues) {
  for (const at::Device device : testDevices()) {
    at::Tensor master = at::zeros({count}, device), none;
    const at::Tensor gradient = at::ones({count}, device);
    at::Tensor before = at::ones({1024, 1024}, device);
    for (int i = 0; device.is_cuda() && i < 20; ++i) before = at::mm(before, before).div_(1024);
    DeviceHyperparameters<SgdHyperparameters> step(device);
    for (int i = 1; i <= 30; ++i) {
      step.set({.rate = static_cast<float>(i * i)});
      sgdUpdate(master, master, gradient, none, step);
    }
    EXPECT_EQ(master.min().item<float>(), -9455) << device;
    EXPECT_EQ(master.max().item<float>(), -9455) << device;
  }
}

TEST(DeviceHyperparameters, AnUpdateOfNoStepIsRefused) {
  State state;
  at::Tensor none;
  EXPECT_THROW(
      sgdUpdate(state.master, state.master, state.gradient, none, DeviceHyperparameters<SgdHyperparameters>(at::kCPU)),
      InternalError);
}

}  // namespace
}  // namespace tandem
