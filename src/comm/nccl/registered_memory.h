#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tandem {

/// What a library of collectives does with memory of its own kind, for one communicator: NCCL, or a test's stand-in.
class CommunicatorMemory {
 public:
  /// Its text is the reason, in one line.
  struct Refused : std::runtime_error {
    using std::runtime_error::runtime_error;
  };

  virtual ~CommunicatorMemory() = default;

  /// Throws Refused.
  virtual void* allocate(int64_t bytes) = 0;
  /// Needs no communicator. REQUIRES: nothing uses the memory any more, and it is not registered.
  virtual void release(void* memory) noexcept = 0;
  /// Makes the memory known to the communicator; the handle is for withdraw(). Throws Refused.
  virtual void* enroll(void* memory, int64_t bytes) = 0;
  virtual void withdraw(void* handle) noexcept = 0;

  virtual c10::Device device() const = 0;
};

/// Tensors in memory that a communicator knows, so that its collectives need no copy of it. The order of ends
/// (Communicators): what is registered is withdrawn before the communicator ends, and memory is released after that,
/// when its tensor is gone too (an operation that never ended, of a run that failed, may still touch it until then).
/// Either of tensor and this may go first. Tensors may be given up on any thread.
class RegisteredMemory {
 public:
  explicit RegisteredMemory(std::unique_ptr<CommunicatorMemory> library);
  /// REQUIRES: releaseUnused() was called, or nothing was allocated.
  ~RegisteredMemory();
  RegisteredMemory(const RegisteredMemory&) = delete;
  RegisteredMemory& operator=(const RegisteredMemory&) = delete;

  /// [count], undefined content. Undefined where the library refuses; it is not asked again then.
  at::Tensor allocate(int64_t count, at::ScalarType type);

  /// "registered with NCCL", or what was refused and why; empty before the first allocate().
  std::string text(std::string_view library) const;

  /// What is registered is no more. REQUIRES: the communicator has no work left; with some that may never end, which
  /// only its abortion stops, nothing is withdrawn.
  void withdrawAll();
  /// From now on memory goes with its tensor. REQUIRES: the communicators of all that may touch it have ended.
  void releaseUnused();

 private:
  struct Blocks;  // shared with the tensors

  std::shared_ptr<Blocks> blocks_;
  bool asked_ = false;
  std::optional<std::string> refusal_;
};

}  // namespace tandem
