#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "comm/group.h"
#include "comm/local/replica_groups.h"

namespace tandem {

/// What one replica shows the others of the operation in a slot. Only its owner writes it. The plain fields are written
/// before the phase that publishes them.
struct alignas(64) SharedState {
  std::atomic<int64_t> phase{0};  ///< sequence * phases of the group + phase: it only grows
  at::Tensor tensor;
  std::vector<Event> events;  ///< per phase; empty on the CPU
};

/// What the replicas of a group share: a ring of operation slots, each with one state per replica.
class CollectiveTable {
 public:
  explicit CollectiveTable(const GroupOptions& options);

  int replicas() const { return static_cast<int>(devices_.size()); }
  const Device& device(int replica) const { return *devices_[replica]; }
  Monitor& monitor() const { return monitor_; }
  const ReplicaGroups& groups() const { return groups_; }
  int64_t phases() const { return phases_; }
  SharedState& state(int64_t sequence, int replica);

  /// The most operations that advance at a time; an operation begins when all have finished the one `slots` before it.
  /// It bounds the table and what one progress() walks through; sums do not depend on it. No measurement chose it.
  /// Full buckets of 4 MiB make it 256 MiB of gradients.
  static constexpr int64_t slots = 64;

 private:
  std::vector<const Device*> devices_;
  Monitor& monitor_;
  const ReplicaGroups groups_;
  int64_t phases_;
  std::vector<SharedState> states_;
};

/// One operation as one replica sees it: a walk through numbered phases, `arrived` first.
///
/// What a replica wrote before publish(p) is visible to a peer after the peer's waitedFor(.., p) returned true. On the
/// CPU acquire and release order it; on a GPU an event that the peer's device waits for. Nothing here blocks.
class CollectiveOp {
 public:
  static constexpr int arrived = 1;

  CollectiveOp(CollectiveTable& table, int64_t sequence, int replica, at::Tensor tensor, Collective collective);

  /// Takes the slot and publishes `arrived`; false while any replica still uses the slot for an earlier operation.
  bool join();
  bool joined() const { return phase_ >= arrived; }
  /// Ends the operation on this replica. REQUIRES: nobody reads its tensor any more.
  void finish();
  bool finished() const { return phase_ == table_->phases() - 1; }

  int64_t sequence() const { return sequence_; }
  Collective collective() const { return collective_; }
  int replica() const { return replica_; }
  int replicas() const { return table_->replicas(); }
  const ReplicaGroups& groups() const { return table_->groups(); }
  at::Device device() const { return table_->device(replica_).torch(); }
  int phase() const { return phase_; }

  void publish(int phase);
  /// True if the peer has published `phase`; this replica's later work is then ordered after it.
  bool waitedFor(int peer, int phase);
  bool waitedForEach(std::span<const int> peers, int phase);
  bool waitedForAll(int phase);
  /// The tensor of a replica that has arrived.
  at::Tensor tensor(int peer) const;
  at::Tensor own() const { return tensor_; }

 private:
  SharedState& stateOf(int peer) const { return table_->state(sequence_, peer); }
  bool reached(int peer, int phase) const;
  void store(int phase);

  CollectiveTable* table_;
  int64_t sequence_;
  int replica_;
  int phase_ = 0;
  at::Tensor tensor_;
  Collective collective_;
  Event ready_;  // recorded when the operation was started: the tensor is complete at this event
};

}  // namespace tandem
