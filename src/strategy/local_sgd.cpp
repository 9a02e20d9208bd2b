#include <ATen/ATen.h>

#include <vector>

#include "strategy/builtin_strategies.h"

namespace tandem {
namespace {

/// Each replica makes its own updates. After every `syncEvery` of them, and behind the last, the weights of all
/// replicas become their mean (local SGD: Stich 2019, "Local SGD converges fast and communicates little"). Optimizer
/// state and loss scale stay each replica's own.
///
/// With block momentum (Chen and Huo 2016, "Scalable training of deep learning machines by incremental block training
/// with intra-block parallel optimization and blockwise model-update filtering", classical form, block learning rate
/// 1):
///
///   change = momentum * change + (mean - start);  start = start + change;  all weights become start.
///
/// The exchange runs in beginStep(), before the batch: so a step itself is the same work each time, and waits for
/// nobody.
class LocalSgd final : public Strategy {
 public:
  /// REQUIRES: context.allReduce is set, context.localSgd.syncEvery > 0.
  explicit LocalSgd(const StrategyContext& context);

  void attach(Replica& replica) override;
  void beginStep(Replica& replica, int64_t step) override;
  void endStep(Replica& replica) override;
  void finish(Replica& replica) override;
  StrategyTraffic traffic() const override { return states_[0].traffic; }
  std::string sums() const override { return states_[0].sums; }

 private:
  struct ReplicaState {
    std::unique_ptr<Group> group;
    std::vector<at::Tensor> start, change;  // per segment, [n] in the master type; none without block momentum
    int64_t steps = 0;                      // since the last average
    StrategyTraffic traffic;
    std::string sums;
  };
  void average(Replica& replica);

  const StrategyContext context_;
  std::vector<ReplicaState> states_;
  double all_;  // replicas of all processes
};

LocalSgd::LocalSgd(const StrategyContext& context)
    : context_(context), states_(context.devices.size()), all_(static_cast<double>(allReplicas(context))) {
  auto groups = joinedGroups(context);
  for (size_t i = 0; i < states_.size(); ++i) states_[i].group = std::move(groups[i]);
}

void LocalSgd::attach(Replica& replica) {
  ReplicaState& state = states_[replica.index];
  broadcastParameters(*state.group, replica.buffers);
  state.start.clear(), state.change.clear();
  std::vector<int64_t> bytes;
  for (int segment = 0; segment < replica.buffers.segments(); ++segment) {
    const at::Tensor master = replica.buffers.master(replica.buffers.whole(segment));
    bytes.push_back(static_cast<int64_t>(master.nbytes()));
    if (context_.localSgd.blockMomentum == 0) continue;
    state.start.push_back(master.clone());
    state.change.push_back(at::zeros_like(master));
  }
  state.traffic = {};
  for (const int64_t segment : bytes) state.traffic += joinedTraffic(context_, Collective::sum, segment);
  state.traffic *= 1.0 / static_cast<double>(context_.localSgd.syncEvery);
  state.sums = context_.allReduce.textFor(bytes);
}

void LocalSgd::average(Replica& replica) {
  ReplicaState& state = states_[replica.index];
  for (int segment = 0; segment < replica.buffers.segments(); ++segment) {
    at::Tensor master = replica.buffers.master(replica.buffers.whole(segment));
    state.group->wait(state.group->start(master, Collective::sum));
    master.div_(all_);
    if (state.start.empty()) continue;
    at::Tensor start = state.start[segment], change = state.change[segment];
    change.mul_(context_.localSgd.blockMomentum).add_(master).sub_(start);
    start.add_(change);
    master.copy_(start);
  }
  replica.buffers.refreshWeights();
  state.steps = 0;
}

// The scale is 1: gradients are not summed, so there is no mean over replicas to take.
void LocalSgd::beginStep(Replica& replica, int64_t step) {
  if (states_[replica.index].steps == context_.localSgd.syncEvery) average(replica);
  ++states_[replica.index].steps;
  replica.optimizer.beginStep(step, /*gradientScale=*/1);
}

void LocalSgd::endStep(Replica& replica) { updateAlone(replica); }

void LocalSgd::finish(Replica& replica) {
  if (states_[replica.index].steps > 0) average(replica);
}

}  // namespace

std::unique_ptr<Strategy> makeLocalSgd(const StrategyContext& context) { return std::make_unique<LocalSgd>(context); }

}  // namespace tandem
