#include "comm/local/thread_group.h"

#include <utility>

#include "base/error.h"

namespace tandem {

ThreadGroup::ThreadGroup(std::shared_ptr<CollectiveTable> table, Advance sum, int replica)
    : table_(std::move(table)), sum_(sum), replica_(replica) {}

Ticket ThreadGroup::start(at::Tensor tensor, Collective op) {
  check(tensor.dim() == 1 && tensor.is_contiguous(), "a group operation takes a 1-D contiguous tensor");
  ops_.emplace_back(*table_, next_, replica_, std::move(tensor), op);
  return next_++;
}

Advance ThreadGroup::advanceOf(Collective op) const {
  if (op == Collective::sum) return sum_;
  return op == Collective::broadcast ? advanceBroadcast : advanceGather;
}

// Later operations advance while an earlier one waits for a peer. Slots are taken in order, so the first operation
// without a slot ends the walk.
bool ThreadGroup::progress() {
  for (CollectiveOp& round : ops_) {
    if (round.finished()) continue;
    if (!round.joined() && !round.join()) break;
    if (advanceOf(round.collective())(round)) round.finish();
  }
  while (!ops_.empty() && ops_.front().finished()) ops_.pop_front();
  return ops_.empty();
}

bool ThreadGroup::finished(Ticket ticket) {
  check(ticket < next_, "a ticket that was started is asked for");
  return progress() || ops_.front().sequence() > ticket;
}

void ThreadGroup::wait(Ticket ticket) {
  table_->monitor().waitUntil([&] { return finished(ticket); });
}

std::vector<std::unique_ptr<ThreadGroup>> makeThreadGroups(const GroupOptions& options, Advance sum) {
  const auto table = std::make_shared<CollectiveTable>(options);
  std::vector<std::unique_ptr<ThreadGroup>> groups;
  for (int replica = 0; replica < table->replicas(); ++replica) {
    groups.push_back(std::make_unique<ThreadGroup>(table, sum, replica));
  }
  return groups;
}

}  // namespace tandem
