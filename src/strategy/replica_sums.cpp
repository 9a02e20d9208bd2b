#include "strategy/replica_sums.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "kernels/tensor/non_finite.h"
#include "trace/span.h"

namespace tandem {

ReplicaSums::ReplicaSums(const StrategyContext& context)
    : monitor_(*context.monitor), buckets_(context.buckets), states_(context.devices.size()) {}

void ReplicaSums::attach(const Replica& replica) {
  State& state = states_[replica.index];
  state.buffers = std::make_unique<const FlatBuffers>(replica.buffers);
  state.arrived = std::vector<ReplicaProgress>(replica.buffers.parameters());
}

void ReplicaSums::attachOnHost(const Replica& replica) {
  states_[replica.index].onHost = std::make_unique<PinnedGradients>(replica.buffers, replica.device, buckets_);
}

void ReplicaSums::setPieces(int replica, std::vector<ShardPiece> pieces) {
  states_[replica].pieces = std::move(pieces);
}

void ReplicaSums::setOverflow(int replica, at::Tensor flag, bool marks) {
  states_[replica].overflow = std::move(flag);
  states_[replica].marks = marks;
}

bool ReplicaSums::overflowed() const {
  return std::ranges::any_of(
      states_, [](const State& each) { return each.overflow.defined() && each.overflow.item<float>() != 0; });
}

bool ReplicaSums::progress(const Replica& replica) {
  State& mine = states_[replica.index];
  for (; mine.next < mine.pieces.size() && gathered(replica, mine.pieces[mine.next]); ++mine.next) {
    const ShardPiece& piece = mine.pieces[mine.next];
    sum(piece);
    if (!mine.marks) continue;
    if (mine.next == 0) mine.overflow.zero_();
    markNonFinite(piece.shard->gradient(piece.piece), mine.overflow);
  }
  return mine.next == mine.pieces.size();
}

bool ReplicaSums::note(const Replica& replica, Slice slice) {
  State& state = states_[replica.index];
  if (!state.onHost) {
    announce(replica, slice, replica.device.record());
    return true;
  }
  state.onHost->note(slice, [&](Slice bucket, const Event& end) { announce(replica, bucket, end); });
  return false;
}

void ReplicaSums::announce(const Replica& replica, Slice slice, const Event& point) {
  State& state = states_[replica.index];
  for (const int variable : replica.buffers.parametersIn(slice)) {
    recordGradientHandoff(replica.buffers.gradientBytes(replica.buffers.slice(variable)));
    state.arrived[variable].publish(state.steps + 1, point, monitor_);
  }
}

// All must have arrived before any event is read: an event may be read only after its value was published.
bool ReplicaSums::gathered(const Replica& replica, const ShardPiece& piece) const {
  const auto milestone = [&](const State& state) -> const ReplicaProgress& {
    return state.arrived[piece.piece.variable];
  };
  const int64_t step = states_[replica.index].steps + 1;
  for (const State& state : states_) {
    if (!milestone(state).reached(step)) return false;
  }
  for (const State& state : states_) {
    if (state.onHost) {
      milestone(state).synchronize(step, monitor_);
    } else {
      milestone(state).follow(step, replica.device);
    }
  }
  return true;
}

void ReplicaSums::sum(const ShardPiece& piece) const {
  std::vector<at::Tensor> gradients;
  const Slice slice = piece.piece.inReplica;
  for (const State& state : states_) {
    gradients.push_back(state.onHost ? state.onHost->gradient(slice) : state.buffers->gradient(slice));
  }
  piece.shard->sum(piece.piece, std::move(gradients));
}

void ReplicaSums::endStep(int replica) {
  State& state = states_[replica];
  if (state.onHost) state.onHost->reset();
  state.next = 0;
  ++state.steps;
}

std::vector<ShardPiece> piecesOf(std::span<const std::unique_ptr<ServerShard>> shards, int replica,
                                 const FlatBuffers& buffers) {
  std::vector<ShardPiece> pieces;
  for (const auto& shard : shards) {
    for (const Piece& piece : shard->pieces(replica, buffers)) pieces.push_back({shard.get(), piece});
  }
  std::ranges::stable_sort(pieces, {}, [](const ShardPiece& each) { return each.piece.variable; });
  return pieces;
}

}  // namespace tandem
