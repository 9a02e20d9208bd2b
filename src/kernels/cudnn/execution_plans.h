#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tandem {

/// The execution plans of cuDNN for one operation on the current GPU. For one thread.
class ExecutionPlans {
 public:
  virtual ~ExecutionPlans() = default;

  /// The plan that the library expects to be fastest is first. Equal for equal operation, GPU and versions.
  virtual std::span<const std::string> names() const = 0;

  /// Makes a plan ready to run. Returns the bytes of workspace that it needs; nullopt if it is not available.
  virtual std::optional<int64_t> prepare(size_t engine) = 0;

  /// Enqueues a plan on the current stream. REQUIRES: prepare() returned the size of `workspace` (0: null). `tensors`
  /// are dense, at multiples of planAlignment, in the order of the operation.
  virtual void run(size_t engine, std::span<void* const> tensors, void* workspace) = 0;
};

/// What cuDNN said of this thread's problems since the last call, a line for each kind (PlanCounts); empty in a build
/// without it.
std::vector<std::string> planNotes();

constexpr uintptr_t planAlignment = 16;  // bytes

/// "cuDNN 9.19.0 by its frontend 1.17.0", or "" in a build without them.
std::string cudnnVersions();

}  // namespace tandem
