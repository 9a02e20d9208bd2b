#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <vector>

#include "device/device.h"
#include "device/precision.h"
#include "support/relative_error.h"

namespace tandem {

/// The devices that tests of kernels, of executors and of optimizers run on: the CPU, and a GPU where there is one. Its
/// fp32 is then fp32: libtorch by itself would let convolutions round to TF32.
inline std::vector<at::Device> testDevices() {
  std::vector<at::Device> devices{at::kCPU};
  if (cudaDeviceCount() > 0) {
    allowTf32(false);
    devices.emplace_back(at::kCUDA, 0);
  }
  return devices;
}

/// Rounding differs in a few elements only: one bfloat16 step of 2^-8 in one of a thousand.
inline double toleranceOf(at::ScalarType type) { return type == at::kFloat ? 1e-6 : 3e-4; }

}  // namespace tandem
