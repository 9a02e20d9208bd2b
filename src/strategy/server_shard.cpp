#include "strategy/server_shard.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "comm/local/local_reduce.h"

namespace tandem {
namespace {

std::vector<ParameterSpec> specsOf(const FlatBuffers& buffers, const std::vector<int>& variables) {
  std::vector<ParameterSpec> specs;
  for (const int variable : variables) specs.push_back(buffers.spec(variable));
  return specs;
}

at::Tensor valuesOf(const FlatBuffers& buffers, Slice slice, ServerShard::Values values) {
  return values == ServerShard::Values::weights ? buffers.weights(slice) : buffers.master(slice);
}

}  // namespace

ServerShard::ServerShard(ShardPlacement plan, const FlatBuffers& initial, const StrategyContext& context, Role role)
    : plan_(std::move(plan)),
      role_(role),
      wholeParameters_(context.wholeParameters),
      buffers_(specsOf(initial, plan_.variables), *context.precision, plan_.device, context.format,
               {.pinned = plan_.throughHost && context.devices.at(plan_.builder)->hostMemory().pinned_memory(),
                .backwardWrites = false}) {
  for (int i = 0; i < buffers_.parameters(); ++i) {
    buffers_.master(buffers_.slice(i)).copy_(initial.master(initial.slice(plan_.variables[i])));
  }
  buffers_.refreshWeights();
  for (int segment = 0; role_ == Role::staged && segment < buffers_.segments(); ++segment) {
    staged_.push_back(buffers_.weights(buffers_.whole(segment)).clone());
  }
  if (!serves()) return;
  for (size_t i = 0; i < plan_.owners.size(); ++i) optimizers_.push_back(context.makeOptimizer(buffers_));
  optimizers_.front()->allocateState();  // now, because owners would allocate it concurrently
}

int ServerShard::placeOf(int replica) const {
  const auto found = std::find(plan_.owners.begin(), plan_.owners.end(), replica);
  return found == plan_.owners.end() ? -1 : static_cast<int>(found - plan_.owners.begin());
}

bool ServerShard::ownedBy(int replica) const { return placeOf(replica) >= 0; }

Slice ServerShard::rangeOf(int segment, int place) const {
  const auto owners = static_cast<int>(plan_.owners.size());
  return ownedRange(buffers_, buffers_.whole(segment), owners, place, wholeParameters_);
}

Optimizer* ServerShard::optimizerOf(int replica) const {
  return serves() && ownedBy(replica) ? optimizers_[static_cast<size_t>(placeOf(replica))].get() : nullptr;
}

// Owned ranges are cut through the whole segment, so a variable may have several owners: hence pieces.
std::vector<Piece> ServerShard::pieces(int replica, const FlatBuffers& replicaBuffers) const {
  std::vector<Piece> pieces;
  for (int i = 0; i < buffers_.parameters() && ownedBy(replica); ++i) {
    const Slice slice = buffers_.slice(i);
    const Slice owned = rangeOf(slice.segment, placeOf(replica));
    const int64_t begin = std::max(slice.begin, owned.begin), end = std::min(slice.end, owned.end);
    if (begin >= end) continue;
    const Slice there = replicaBuffers.slice(plan_.variables[i]);
    const int64_t shift = there.begin - slice.begin;
    pieces.push_back({plan_.variables[i], {there.segment, begin + shift, end + shift}, {slice.segment, begin, end}});
  }
  return pieces;
}

void ServerShard::setLossScale(int owner, const LossScale* scale) {
  if (Optimizer* const optimizer = optimizerOf(owner)) optimizer->setLossScale(scale);
}

void ServerShard::sum(const Piece& piece, std::vector<at::Tensor> gradients) {
  sumFromPeers(buffers_.gradient(piece.inShard), std::move(gradients));
}

void ServerShard::beginStep(int replica, int64_t step, double gradientScale) {
  if (Optimizer* const optimizer = optimizerOf(replica)) optimizer->beginStep(step, gradientScale);
}

void ServerShard::update(int replica) {
  Optimizer* const optimizer = optimizerOf(replica);
  for (int segment = 0; optimizer != nullptr && segment < buffers_.segments(); ++segment) {
    const Slice owned = rangeOf(segment, placeOf(replica));
    if (owned.count() > 0) optimizer->update(owned);
  }
}

void ServerShard::update(int replica, Slice inShard) { optimizerOf(replica)->update(inShard); }

bool ServerShard::sameLayoutAs(const FlatBuffers& replica) const {
  return buffers_.parameters() == replica.parameters();  // all variables in the same order, so the slices are equal
}

void ServerShard::stage(Slice inShard) {
  if (!staged_.empty()) valuesToCopy(inShard, Values::weights).copy_(buffers_.weights(inShard));
}

at::Tensor ServerShard::valuesToCopy(Slice inShard, Values values) const {
  if (values == Values::masters || staged_.empty()) return valuesOf(buffers_, inShard, values);
  return staged_[static_cast<size_t>(inShard.segment)].narrow(0, inShard.begin, inShard.count());
}

// One copy per segment if the shard holds everything; else one per variable.
void ServerShard::copyTo(FlatBuffers& replica, Values values) const {
  if (sameLayoutAs(replica)) {
    for (int segment = 0; segment < buffers_.segments(); ++segment) {
      const Slice whole = buffers_.whole(segment);
      valuesOf(replica, whole, values).copy_(valuesToCopy(whole, values), /*non_blocking=*/true);
    }
    return;
  }
  for (int i = 0; i < buffers_.parameters(); ++i) {
    const Slice there = replica.slice(plan_.variables[i]);
    valuesOf(replica, there, values).copy_(valuesToCopy(buffers_.slice(i), values), /*non_blocking=*/true);
  }
}

void ServerShard::stateTo(FlatBuffers& replica) {
  for (int which = 0; which < buffers_.states(); ++which) {
    for (int i = 0; i < buffers_.parameters(); ++i) {
      replica.state(which, replica.slice(plan_.variables[i])).copy_(buffers_.state(which, buffers_.slice(i)));
    }
  }
}

void ServerShard::stateFrom(FlatBuffers& replica) {
  for (int i = 0; i < buffers_.parameters(); ++i) {
    buffers_.master(buffers_.slice(i)).copy_(replica.master(replica.slice(plan_.variables[i])));
  }
  buffers_.refreshWeights();
  for (int which = 0; serves() && which < replica.states(); ++which) {
    for (int i = 0; i < buffers_.parameters(); ++i) {
      buffers_.state(which, buffers_.slice(i)).copy_(replica.state(which, replica.slice(plan_.variables[i])));
    }
  }
}

}  // namespace tandem
