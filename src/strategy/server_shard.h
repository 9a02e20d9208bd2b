#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "strategy/strategy.h"
#include "strategy/variable_placement.h"

namespace tandem {

/// What one replica's thread sums at a time: its part of one variable.
struct Piece {
  int variable = 0;
  Slice inReplica, inShard;
};

/// Variables of the parameter server on one device: masters, weights, the sum of the replicas' gradients, the
/// optimizer's state.
///
/// Owners call sum() and update() concurrently, each for its own range.
class ServerShard {
 public:
  /// Starts from the masters of `initial`, which holds all variables.
  ServerShard(ShardPlacement plan, const FlatBuffers& initial, const StrategyContext& context);

  const ShardPlacement& plan() const { return plan_; }
  bool ownedBy(int replica) const;
  /// What `replica` owns, in the order in which gradients become ready.
  std::vector<Piece> pieces(int replica, const FlatBuffers& replicaBuffers) const;

  /// Of what `owner` updates.
  void setLossScale(int owner, const LossScale* scale);

  void sum(const Piece& piece, std::vector<at::Tensor> gradients);
  /// What sum() has written.
  at::Tensor gradient(const Piece& piece) const { return buffers_.gradient(piece.inShard); }
  /// Of what `replica` owns: Optimizer::beginStep(), and the update of all of it.
  void beginStep(int replica, int64_t step, double gradientScale);
  void update(int replica);

  enum class Values { weights, masters };
  /// On the calling thread's current stream; the host does not wait.
  void copyTo(FlatBuffers& replica, Values values) const;

 private:
  int rankOf(int replica) const;  // among the owners
  bool sameLayoutAs(const FlatBuffers& replica) const;

  ShardPlacement plan_;
  FlatBuffers buffers_;
  std::vector<std::unique_ptr<Optimizer>> optimizers_;  // one per owner
};

}  // namespace tandem
