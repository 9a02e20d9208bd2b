#pragma once

#include <c10/core/Device.h>

#include <optional>
#include <vector>

#include "device/precision.h"
#include "machine/gpu/gpu_facts.h"

namespace tandem {

/// The rows that suites can train in on a device. Not TF32, in which libraries may round or not.
inline std::vector<Precision> precisionsOn(c10::Device device) {
  std::optional<int> capability;
  if (device.is_cuda()) capability = cudaFacts().gpus.at(static_cast<size_t>(device.index())).capability;
  std::vector<Precision> found;
  for (const Precision& row : precisions()) {
    if (!row.tf32 && !whyNotOn(capability, row)) found.push_back(row);
  }
  return found;
}

inline std::vector<Precision> precisionsOnCpu() { return precisionsOn(c10::kCPU); }

/// How far rounding to the type moves a value, of itself.
inline double unitOf(at::ScalarType type) {
  return type == at::kFloat ? 0x1p-24 : type == at::kHalf ? 0x1p-12 : 0x1p-9;
}

}  // namespace tandem
