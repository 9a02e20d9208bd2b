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

/// Why activities of GPUs cannot be recorded, in one line.
struct TracingFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Names of the library. The one that libtorch has loaded comes first.
inline constexpr std::array<const char*, 2> cuptiLibraries{"libcupti.so.13", "libcupti.so.12"};

/// The activity API of CUPTI, NVIDIA's profiling library. It is declared here instead of in cupti.h, and loaded at run
/// time like NVML. The record fields read here have had the same offsets in all versions from CUDA 11 to 13. libtorch
/// links CUPTI too, but uses it only in its own profiler, which Tandem never starts. Only one object at a time: CUPTI
/// delivers activities to functions without a context.
class Cupti {
 public:
  /// The two marks of a thread's calls, which are independent.
  enum class Tag : uint32_t { step = 3, operation = 4 };  // CUpti_ExternalCorrelationKind: two that are free

  /// Throws TracingFailed.
  static std::unique_ptr<Cupti> open(std::span<const char* const> libraries);
  ~Cupti();
  Cupti(const Cupti&) = delete;
  Cupti& operator=(const Cupti&) = delete;

  /// Keeps the activities of all work that this process gives to GPUs from now on, until stop(). Throws TracingFailed.
  void start();
  /// Returns the activities in no order. REQUIRES: all GPUs have finished their work.
  std::vector<DeviceActivity> stop();
  /// Number of activities between the last start() and stop() that CUPTI dropped or gave no times for.
  int64_t lost() const { return lost_; }

  /// Marks the activities that the calling thread enqueues until pop() with step or operation `value`. A graph launch
  /// is one call, so all its activities get the marks of that call. CUPTI before CUDA 13.1 Update 1 reports the wrong
  /// launch after the first stop().
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
