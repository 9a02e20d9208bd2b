#pragma once

#include <cstdint>

namespace tandem {

/// Learns for which operation of the plan a thread enqueues work.
class OpListener {
 public:
  virtual ~OpListener() = default;
  virtual void opBegins(int64_t operation) noexcept = 0;
  virtual void opEnds() noexcept = 0;
};

/// Of this thread; null: nobody listens, and marks cost a load and a branch.
inline thread_local constinit OpListener* threadOpListener = nullptr;

/// What the thread enqueues while this lives is work of `operation`, of which the plan says what it means
/// (executor/compile/op_cost.h). Marks do not nest.
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
