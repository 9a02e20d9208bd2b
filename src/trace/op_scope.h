#pragma once

#include <cstdint>

namespace tandem {

/// Learns for which operation of the plan a thread enqueues work.
class WorkListener {
 public:
  virtual ~WorkListener() = default;
  virtual void workBegins(int64_t operation) noexcept = 0;
  virtual void workEnds() noexcept = 0;
};

/// Of this thread; null: nobody listens, and marks cost a load and a branch.
inline thread_local constinit WorkListener* threadWorkListener = nullptr;

/// What the thread enqueues while this lives is work of `operation`, of which the plan says what it means
/// (executor/compile/op_cost.h). Marks do not nest.
class WorkMark {
 public:
  explicit WorkMark(int64_t operation) noexcept : listener_(threadWorkListener) {
    if (listener_ != nullptr) listener_->workBegins(operation);
  }
  ~WorkMark() {
    if (listener_ != nullptr) listener_->workEnds();
  }
  WorkMark(const WorkMark&) = delete;
  WorkMark& operator=(const WorkMark&) = delete;

 private:
  WorkListener* listener_;
};

}  // namespace tandem
