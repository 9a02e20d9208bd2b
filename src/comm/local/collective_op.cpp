#include "comm/local/collective_op.h"

#include <utility>

#include "base/error.h"

namespace tandem {

// The ring has the most phases, 2 (n - 1) steps after `arrived`. For up to three replicas hierarchical and
// halving_doubling have more, up to 6. The last number of all means finished.
CollectiveTable::CollectiveTable(const GroupOptions& options)
    : devices_(options.devices),
      monitor_(*options.monitor),
      groups_(nearbyReplicas(options.devices)),
      phases_(2 * static_cast<int64_t>(options.devices.size()) + 6),
      states_(static_cast<size_t>(slots) * options.devices.size()) {
  for (SharedState& state : states_) state.events.resize(phases_);
}

SharedState& CollectiveTable::state(int64_t sequence, int replica) {
  return states_[static_cast<size_t>(sequence % slots) * devices_.size() + replica];
}

// The event is recorded here, when the caller starts the operation: join() may come much later, when the slot is free,
// and the stream then holds unrelated work.
CollectiveOp::CollectiveOp(CollectiveTable& table, int64_t sequence, int replica, at::Tensor tensor,
                           Collective collective)
    : table_(&table),
      sequence_(sequence),
      replica_(replica),
      tensor_(std::move(tensor)),
      collective_(collective),
      ready_(table.device(replica).record()) {}

// A slot is free when every replica has finished the operation that used it before, `slots` operations ago. The counter
// never decreases, so a replica that is already further counts as finished. The tensor and its event are plain fields;
// the release store of `arrived` publishes them.
bool CollectiveOp::join() {
  const int64_t before = sequence_ - CollectiveTable::slots;
  for (int peer = 0; before >= 0 && peer < replicas(); ++peer) {
    const int64_t over = (before + 1) * table_->phases() - 1;
    if (stateOf(peer).phase.load(std::memory_order_acquire) < over) return false;
  }
  SharedState& state = stateOf(replica_);
  state.tensor = tensor_;
  state.events[arrived] = ready_;
  store(arrived);
  return true;
}

// The reference is dropped before the last store: after it another operation may use the slot.
void CollectiveOp::finish() {
  stateOf(replica_).tensor.reset();
  tensor_.reset();
  store(static_cast<int>(table_->phases()) - 1);
}

void CollectiveOp::publish(int phase) {
  stateOf(replica_).events[phase] = table_->device(replica_).record();
  store(phase);
}

// The phases of one slot's operations form one growing counter, so a reader needs no lock and no reset in between.
void CollectiveOp::store(int phase) {
  phase_ = phase;
  stateOf(replica_).phase.store(sequence_ * table_->phases() + phase, std::memory_order_release);
  table_->monitor().notify();
}

bool CollectiveOp::reached(int peer, int phase) const {
  return stateOf(peer).phase.load(std::memory_order_acquire) >= sequence_ * table_->phases() + phase;
}

// The acquire load in reached() makes the peer's fields visible, so its event can be read now. Only the device waits.
bool CollectiveOp::waitedFor(int peer, int phase) {
  if (!reached(peer, phase)) return false;
  if (peer != replica_) table_->device(replica_).wait(stateOf(peer).events[phase]);
  return true;
}

// First all, then the waits: a poll that fails must not enqueue waits that the next poll enqueues again.
bool CollectiveOp::waitedForEach(std::span<const int> peers, int phase) {
  for (const int peer : peers) {
    if (!reached(peer, phase)) return false;
  }
  for (const int peer : peers) waitedFor(peer, phase);
  return true;
}

bool CollectiveOp::waitedForAll(int phase) {
  for (int peer = 0; peer < replicas(); ++peer) {
    if (!reached(peer, phase)) return false;
  }
  for (int peer = 0; peer < replicas(); ++peer) waitedFor(peer, phase);
  return true;
}

at::Tensor CollectiveOp::tensor(int peer) const {
  at::Tensor other = stateOf(peer).tensor;
  check(other.numel() == tensor_.numel() && other.scalar_type() == tensor_.scalar_type(),
        "replicas give tensors of one size and type to a group operation");
  return other;
}

}  // namespace tandem
