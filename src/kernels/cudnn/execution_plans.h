#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace tandem {

/// The engines of a library, cuDNN, for one operation on the current GPU: the ways in which it can compute it. On one
/// thread.
class ExecutionPlans {
 public:
  virtual ~ExecutionPlans() = default;

  /// What the library takes for the fastest comes first. The same for the same operation, GPU and versions.
  virtual std::span<const std::string> names() const = 0;

  /// Makes one ready to run: bytes of workspace that it needs, nothing where it does not serve.
  virtual std::optional<int64_t> prepare(size_t engine) = 0;

  /// Enqueues it on the current stream. REQUIRES: prepare() gave the bytes of `workspace` (none: null); dense `tensors`
  /// at multiples of planAlignment, in the order that belongs to the operation.
  virtual void run(size_t engine, std::span<void* const> tensors, void* workspace) = 0;
};

constexpr uintptr_t planAlignment = 16;  // bytes

/// "cuDNN 9.19.0 by its frontend 1.18.0", or "" in a build without them.
std::string cudnnVersions();

}  // namespace tandem
