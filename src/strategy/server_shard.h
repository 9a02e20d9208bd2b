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
///
/// On ranks that do not serve these variables it is a copy without optimizer state: gradients of the rank's replicas
/// are summed there, to be sent to the server, and weights come from it.
class ServerShard {
 public:
  /// What a shard is for.
  enum class Role {
    server,  ///< updates the variables
    staged,  ///< the same, and replicas read weights that stage() has put aside for them
    copy     ///< another rank updates them
  };
  /// Copies the masters of `initial`, which holds all variables.
  ServerShard(ShardPlacement plan, const FlatBuffers& initial, const StrategyContext& context, Role role);

  const ShardPlacement& plan() const { return plan_; }
  /// Whether this rank updates the variables.
  bool serves() const { return role_ != Role::copy; }
  /// Its memory, laid out as Piece::inShard says.
  const FlatBuffers& buffers() const { return buffers_; }
  bool ownedBy(int replica) const;
  /// What `replica` owns, in the order in which gradients become ready.
  std::vector<Piece> pieces(int replica, const FlatBuffers& replicaBuffers) const;

  /// Sets the loss scale for the updates of `owner`.
  void setLossScale(int owner, const LossScale* scale);

  void sum(const Piece& piece, std::vector<at::Tensor> gradients);
  /// The result of sum().
  at::Tensor gradient(const Piece& piece) const { return buffers_.gradient(piece.inShard); }
  /// For what `replica` owns: Optimizer::beginStep(), and the update of all of it. No effect if it owns nothing, or if
  /// another rank serves.
  void beginStep(int replica, int64_t step, double gradientScale);
  void update(int replica);
  /// The update of a range that `replica` owns. REQUIRES: serves().
  void update(int replica, Slice inShard);

  /// Puts the weights of a range aside, of Role::staged; else they are read where they are.
  void stage(Slice inShard);

  enum class Values { weights, masters };
  /// Enqueues copies on the calling thread's current stream; the host does not wait. Weights are those put aside.
  void copyTo(FlatBuffers& replica, Values values) const;

  /// The optimizer's state number `which` of a range. A copy has it after allocateState(), to be fetched.
  at::Tensor state(int which, Slice inShard) { return buffers_.state(which, inShard); }
  void allocateState(int count) { buffers_.allocateState(count); }

  /// Copy the optimizer's state of the shard's variables into a replica's buffers; and from there masters, and their
  /// state if this rank serves. REQUIRES: no update goes on.
  void stateTo(FlatBuffers& replica);
  void stateFrom(FlatBuffers& replica);

 private:
  /// What the owner in that place owns of a segment.
  Slice rangeOf(int segment, int place) const;
  int placeOf(int replica) const;             // its index among the owners; -1: it is none
  Optimizer* optimizerOf(int replica) const;  // null: this rank does not serve, or the replica owns nothing
  bool sameLayoutAs(const FlatBuffers& replica) const;
  at::Tensor valuesToCopy(Slice inShard, Values values) const;

  ShardPlacement plan_;
  const Role role_;
  const bool wholeParameters_;
  FlatBuffers buffers_;
  std::vector<std::unique_ptr<Optimizer>> optimizers_;  // one per owner; none: another rank serves
  std::vector<at::Tensor> staged_;                      // per segment, of Role::staged
};

/// A piece with its shard.
struct ShardPiece {
  ServerShard* shard = nullptr;
  Piece piece;
};

}  // namespace tandem
