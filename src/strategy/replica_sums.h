#pragma once

#include <memory>
#include <vector>

#include "device/replica_progress.h"
#include "strategy/pinned_gradients.h"
#include "strategy/server_shard.h"

namespace tandem {

/// Sums the gradients of a process's replicas into shards. The owner of a piece sums it, as soon as all replicas have
/// made it.
///
/// With GPUs and a server on the host, a gradient counts as made once its bucket's copy to host memory is enqueued. A
/// sum then waits for the copies. All methods run on the replica's thread.
class ReplicaSums {
 public:
  explicit ReplicaSums(const StrategyContext& context);

  /// Lets the others read this replica's gradients. A barrier must follow before the first step.
  void attach(const Replica& replica);
  /// The same for copies in host memory. REQUIRES: attach() returned.
  void attachOnHost(const Replica& replica);
  /// Those that attach() has seen.
  const FlatBuffers& buffersOf(int replica) const { return *states_[replica].buffers; }
  /// What the replica owns, in the order in which it sums.
  void setPieces(int replica, std::vector<ShardPiece> pieces);
  const std::vector<ShardPiece>& pieces(int replica) const { return states_[replica].pieces; }

  /// With a loss scale: a flag of [1] fp32 for each owner, not 0 if a sum of this step is not finite. `marks`: by what
  /// this owner sums; else somebody else sets it. REQUIRES: when an owner begins a step's sums, all have read its flag
  /// of the step before. Their gradients come after that.
  void setOverflow(int replica, at::Tensor flag, bool marks);
  /// Undefined where there is none.
  const at::Tensor& overflow(int replica) const { return states_[replica].overflow; }
  /// Whether a flag is set. Waits for the device that sums.
  bool overflowed() const;

  /// Tells owners of a gradient that is complete at this point of the device's work. True if this thread may go on to
  /// sum: it would not wait for copies.
  bool note(const Replica& replica, Slice slice);
  /// Sums this replica's pieces in order, as far as gradients have arrived. True if all are done.
  bool progress(const Replica& replica);
  /// How many pieces of this step are summed.
  size_t done(int replica) const { return states_[replica].next; }
  /// REQUIRES: all are. The gradients may be overwritten when all owners have ended the step.
  void endStep(int replica);

 private:
  struct alignas(64) State {
    /// A copy of the handles to the same memory. It keeps the memory alive for owners even if this replica has failed.
    std::unique_ptr<const FlatBuffers> buffers;
    std::unique_ptr<PinnedGradients> onHost;  // only where gradients are copied to the host
    std::vector<ReplicaProgress> arrived;     // per variable: the number of steps whose gradient is complete
    int64_t steps = 0;                        // finished steps; this and the rest is touched by its own thread only
    std::vector<ShardPiece> pieces;
    size_t next = 0;
    at::Tensor overflow;
    bool marks = false;
  };

  void announce(const Replica& replica, Slice slice, const Event& point);
  /// Whether all replicas have made this piece's gradient. Later work of the replica's device is ordered after that.
  bool gathered(const Replica& replica, const ShardPiece& piece) const;
  void sum(const ShardPiece& piece) const;

  Monitor& monitor_;
  const BucketSize buckets_;
  std::vector<State> states_;
};

/// What replica `replica` owns of these shards, in the order in which backward makes gradients. `buffers`: a replica's.
std::vector<ShardPiece> piecesOf(std::span<const std::unique_ptr<ServerShard>> shards, int replica,
                                 const FlatBuffers& buffers);

}  // namespace tandem
