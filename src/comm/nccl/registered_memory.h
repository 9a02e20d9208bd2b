#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tandem {

/// How a collectives library handles memory of its own kind, for one communicator: NCCL, or a test's substitute.
class CommunicatorMemory {
 public:
  /// what() is the reason, in one line.
  struct Refused : std::runtime_error {
    using std::runtime_error::runtime_error;
  };

  virtual ~CommunicatorMemory() = default;

  /// Throws Refused.
  virtual void* allocate(int64_t bytes) = 0;
  /// Needs no communicator. REQUIRES: nothing uses the memory any more, and it is not registered.
  virtual void release(void* memory) noexcept = 0;
  /// Registers the memory with the communicator and returns the handle for withdraw(). Throws Refused.
  virtual void* enroll(void* memory, int64_t bytes) = 0;
  virtual void withdraw(void* handle) noexcept = 0;

  virtual c10::Device device() const = 0;
};

/// Tensors in memory that is registered with a communicator, so that its collectives need no copy.
///
/// Shutdown order (see Communicators): registrations are withdrawn before the communicator ends. A block is freed after
/// that, when its tensor is gone too. Until then an operation of a failed run may still touch it. Tensors and this
/// object may be destroyed in any order, tensors on any thread.
class RegisteredMemory {
 public:
  explicit RegisteredMemory(std::unique_ptr<CommunicatorMemory> library);
  /// REQUIRES: releaseUnused() was called, or nothing was allocated.
  ~RegisteredMemory();
  RegisteredMemory(const RegisteredMemory&) = delete;
  RegisteredMemory& operator=(const RegisteredMemory&) = delete;

  /// [count], undefined content. An undefined tensor if the library refuses; it is then not asked again.
  at::Tensor allocate(int64_t count, at::ScalarType type);

  /// "registered with NCCL", or the reason of the refusal; empty before the first allocate().
  std::string text(std::string_view library) const;

  /// Unregisters everything. REQUIRES: the communicator has no unfinished work. If some work may never end, abort the
  /// communicator instead and withdraw nothing.
  void withdrawAll();
  /// From now on a block is freed with its tensor. REQUIRES: all communicators that may touch the blocks have ended.
  void releaseUnused();

 private:
  struct Blocks;  // shared with the tensors' deleters

  std::shared_ptr<Blocks> blocks_;
  bool asked_ = false;
  std::optional<std::string> refusal_;
};

}  // namespace tandem
