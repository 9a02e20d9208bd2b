#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "measure/profile/gpu_timeline.h"

namespace tandem {

/// Why activities of GPUs cannot be had, in one line.
struct TracingFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The one that libtorch has loaded comes first.
inline constexpr std::array<const char*, 2> cuptiLibraries{"libcupti.so.13", "libcupti.so.12"};

/// The part of NVIDIA's profiling library that tells what GPUs did: its activity API. Declared here, not taken from
/// cupti.h, and loaded at run time as NVML is; what is read of its records lies where it lay in all versions from CUDA
/// 11 to 13. libtorch links it too, and uses it in its own profiler only, which Tandem never starts. One at a time:
/// CUPTI hands activities to functions without an object.
class Cupti {
 public:
  /// What a thread's calls are marked with, each for itself.
  enum class Tag : uint32_t { step = 3, operation = 4 };  // CUpti_ExternalCorrelationKind: two that are free

  /// Throws TracingFailed.
  static std::unique_ptr<Cupti> open(std::span<const char* const> libraries);
  ~Cupti();
  Cupti(const Cupti&) = delete;
  Cupti& operator=(const Cupti&) = delete;

  /// What all GPUs of this process are given from here on is kept, until stop(). Throws TracingFailed.
  void start();
  /// In no order. REQUIRES: all GPUs have done what they were given.
  std::vector<DeviceActivity> stop();
  /// Activities between the last start() and stop() that CUPTI dropped, or gave no times of.
  int64_t lost() const { return lost_; }

  /// Activities that the calling thread enqueues until pop() are of step or operation `value`. A launched graph is one
  /// call, so all that it does is of its marks; but CUPTI before CUDA 13.1 Update 1 tells of the wrong launch after the
  /// first stop().
  void push(Tag tag, int64_t value) const noexcept;
  void pop(Tag tag) const noexcept;

 private:
  struct Functions;
  explicit Cupti(const Functions& functions);
  void stopAll() const noexcept;

  std::unique_ptr<Functions> functions_;
  int64_t lost_ = 0;
};

}  // namespace tandem
