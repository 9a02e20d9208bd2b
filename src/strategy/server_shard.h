#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "strategy/strategy.h"
#include "strategy/variable_placement.h"

namespace tandem {

/// The part of one variable that one owner sums at a time.
struct Piece {
  int variable = 0;
  Slice inReplica, inShard;
};

/// The variables of the parameter server on one device: masters, weights, the sum of all replicas' gradients, and
/// optimizer state. Owners call sum() and update() concurrently, each for its own range.
class ServerShard {
 public:
  /// Copies the masters of `initial`, which holds all variables.
  ServerShard(ShardPlacement plan, const FlatBuffers& initial, const StrategyContext& context);

  const ShardPlacement& plan() const { return plan_; }
  bool ownedBy(int replica) const;
  /// What `replica` owns, in the order in which gradients become ready.
  std::vector<Piece> pieces(int replica, const FlatBuffers& replicaBuffers) const;

  /// Sets the loss scale for the updates of `owner`.
  void setLossScale(int owner, const LossScale* scale);

  void sum(const Piece& piece, std::vector<at::Tensor> gradients);
  /// The result of sum().
  at::Tensor gradient(const Piece& piece) const { return buffers_.gradient(piece.inShard); }
  /// For what `replica` owns: Optimizer::beginStep(), and the update of all of it. No effect if it owns nothing.
  void beginStep(int replica, int64_t step, double gradientScale);
  void update(int replica);

  enum class Values { weights, masters };
  /// Enqueues copies on the calling thread's current stream; the host does not wait.
  void copyTo(FlatBuffers& replica, Values values) const;

 private:
  int placeOf(int replica) const;  // its index among the owners; -1: it is none
  bool sameLayoutAs(const FlatBuffers& replica) const;

  ShardPlacement plan_;
  FlatBuffers buffers_;
  std::vector<std::unique_ptr<Optimizer>> optimizers_;  // one per owner
};

}  // namespace tandem
