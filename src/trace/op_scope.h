#pragma once

#include <cstdint>

namespace tandem {

/// Receives the operation of the plan for which a thread enqueues work.
class OpListener {
 public:
  virtual ~OpListener() = default;
  virtual void opBegins(int64_t operation) noexcept = 0;
  virtual void opEnds() noexcept = 0;
};

/// Listener of this thread. Null: nobody listens, and an OpScope costs a load and a branch.
inline thread_local constinit OpListener* threadOpListener = nullptr;

/// Makes `listener` that of the calling thread while this object lives.
class OpListening {
 public:
  explicit OpListening(OpListener* listener) noexcept { threadOpListener = listener; }
  ~OpListening() { threadOpListener = nullptr; }
  OpListening(const OpListening&) = delete;
  OpListening& operator=(const OpListening&) = delete;
};

/// While this object lives, the thread enqueues work of `operation`, an index into the plan's operations
/// (executor/compile/op_cost.h). Scopes do not nest.
class OpScope {
 public:
  explicit OpScope(int64_t operation) noexcept : listener_(threadOpListener) {
    if (listener_ != nullptr) listener_->opBegins(operation);
  }
  ~OpScope() {
    if (listener_ != nullptr) listener_->opEnds();
  }
  OpScope(const OpScope&) = delete;
  OpScope& operator=(const OpScope&) = delete;

 private:
  OpListener* listener_;
};

}  // namespace tandem
