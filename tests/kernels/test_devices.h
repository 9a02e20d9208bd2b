#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <vector>

#include "device/device.h"

namespace tandem {

/// The devices every kernel test runs on: the CPU, and a GPU where there is one.
inline std::vector<at::Device> testDevices() {
  std::vector<at::Device> devices{at::kCPU};
  if (cudaDeviceCount() > 0) devices.emplace_back(at::kCUDA, 0);
  return devices;
}

/// |actual - expected| / |expected| by the 2-norm, in fp64.
inline double relativeError(const at::Tensor& actual, const at::Tensor& expected) {
  const at::Tensor a = actual.to(at::kCPU, at::kDouble), e = expected.to(at::kCPU, at::kDouble);
  const double difference = (a - e).norm().item<double>(), size = e.norm().item<double>();
  return size > 0 ? difference / size : difference;
}

/// Rounding differs in a few elements only: one bfloat16 step of 2^-8 in one of a thousand.
inline double toleranceOf(at::ScalarType type) { return type == at::kFloat ? 1e-6 : 3e-4; }

}  // namespace tandem
