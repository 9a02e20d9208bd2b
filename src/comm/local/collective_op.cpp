#include "comm/local/collective_op.h"

#include <utility>

#include "base/error.h"

namespace tandem {

// The ring algorithm passes the most phases: 2 (n - 1) steps after `arrived`; the last number means finished.
RoundTable::RoundTable(const GroupOptions& options)
    : devices_(options.devices),
      monitor_(*options.monitor),
      phases_(2 * static_cast<int64_t>(options.devices.size()) + 4),
      lanes_(static_cast<size_t>(slots) * options.devices.size()) {
  for (Lane& lane : lanes_) lane.events.resize(phases_);
}

Lane& RoundTable::lane(int64_t sequence, int rank) {
  return lanes_[static_cast<size_t>(sequence % slots) * devices_.size() + rank];
}

Round::Round(RoundTable& table, int64_t sequence, int rank, at::Tensor tensor, Collective collective)
    : table_(&table),
      sequence_(sequence),
      rank_(rank),
      tensor_(std::move(tensor)),
      collective_(collective),
      ready_(table.device(rank).record()) {}

bool Round::enter() {
  const int64_t before = sequence_ - RoundTable::slots;
  for (int peer = 0; before >= 0 && peer < replicas(); ++peer) {
    const int64_t over = (before + 1) * table_->phases() - 1;
    if (laneOf(peer).phase.load(std::memory_order_acquire) < over) return false;
  }
  Lane& lane = laneOf(rank_);
  lane.tensor = tensor_;
  lane.events[arrived] = ready_;
  store(arrived);
  return true;
}

void Round::finish() {
  laneOf(rank_).tensor.reset();
  tensor_.reset();
  store(static_cast<int>(table_->phases()) - 1);
}

void Round::publish(int phase) {
  laneOf(rank_).events[phase] = table_->device(rank_).record();
  store(phase);
}

void Round::store(int phase) {
  phase_ = phase;
  laneOf(rank_).phase.store(sequence_ * table_->phases() + phase, std::memory_order_release);
  table_->monitor().notify();
}

bool Round::reached(int peer, int phase) const {
  return laneOf(peer).phase.load(std::memory_order_acquire) >= sequence_ * table_->phases() + phase;
}

bool Round::followed(int peer, int phase) {
  if (!reached(peer, phase)) return false;
  if (peer != rank_) table_->device(rank_).wait(laneOf(peer).events[phase]);
  return true;
}

bool Round::followedAll(int phase) {
  for (int peer = 0; peer < replicas(); ++peer) {
    if (!reached(peer, phase)) return false;
  }
  for (int peer = 0; peer < replicas(); ++peer) followed(peer, phase);
  return true;
}

at::Tensor Round::tensor(int peer) const {
  at::Tensor other = laneOf(peer).tensor;
  check(other.numel() == tensor_.numel() && other.scalar_type() == tensor_.scalar_type(),
        "replicas give tensors of one size and type to a group operation");
  return other;
}

}  // namespace tandem
