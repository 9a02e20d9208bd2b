#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "comm/group.h"
#include "comm/local/algorithms.h"
#include "comm/local/collective_op.h"

namespace tandem {

/// A group of replicas of this process, one thread each, which exchange through memory that all can read.
///
/// There is no helper thread: progress() and wait() do the work, on the caller's cores and stream. Any number of
/// operations may be in flight. CollectiveTable::slots of them advance at a time; the others queue here.
class ThreadGroup final : public Group {
 public:
  ThreadGroup(std::shared_ptr<CollectiveTable> table, Advance sum, int replica);

  Ticket start(at::Tensor tensor, Collective op) override;
  bool progress() override;
  void wait(Ticket ticket) override;
  /// Whether the operation has finished here; does what is possible without waiting.
  bool finished(Ticket ticket);
  const ReplicaGroups& groups() const { return table_->groups(); }

 private:
  Advance advanceOf(Collective op) const;

  std::shared_ptr<CollectiveTable> table_;
  Advance sum_;
  int replica_;
  Ticket next_ = 0;
  std::deque<CollectiveOp> ops_;  // started and not finished here, in order
};

/// One handle per device, of the replicas of this process alone.
std::vector<std::unique_ptr<ThreadGroup>> makeThreadGroups(const GroupOptions& options, Advance sum);

}  // namespace tandem
