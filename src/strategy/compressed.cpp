#include <ATen/ATen.h>

#include <vector>

#include "base/error.h"
#include "comm/buckets.h"
#include "comm/joined_group.h"
#include "kernels/tensor/non_finite.h"
#include "strategy/builtin_strategies.h"
#include "trace/span.h"

namespace tandem {
namespace {

/// Every replica holds everything and makes the same update, of gradients that were compressed to be exchanged. Each
/// keeps the error of its own message and adds it to its next gradient (error feedback: Seide et al. 2014; Karimireddy
/// et al. 2019, "Error feedback fixes SignSGD and other gradient compression schemes"). A single replica compresses
/// too, so that one rule holds for any number.
///
/// A bucket's first message leaves as soon as it is full, mostly during backward; what must wait for an answer is done
/// in endStep(). Errors are those of unscaled gradients: the loss scale may change from step to step. A step that
/// overflows, which shows in the sum, leaves them as they were. The first steps may exchange whole gradients, which
/// leave no errors (CompressionOptions::start).
class Compressed final : public Strategy {
 public:
  /// REQUIRES: context.allReduce is set.
  explicit Compressed(const StrategyContext& context);

  void attach(Replica& replica) override;
  void beginStep(Replica& replica, int64_t step) override;
  void gradientReady(Replica& replica, Slice slice) override;
  void endStep(Replica& replica) override;
  StrategyTraffic traffic() const override { return states_[0].traffic; }
  std::string sums() const override { return states_[0].sums; }

 private:
  struct Bucket {
    Slice slice;
    std::unique_ptr<Compressor> compressor;
    at::Tensor error, values;  // [n] fp32: left out by the steps before; the same with this step's gradient, or its sum
    Ticket ticket = 0;         // of its last message
  };
  struct ReplicaState {
    std::unique_ptr<Group> group;
    std::unique_ptr<BucketTracker> tracker;
    std::vector<Bucket> buckets;
    size_t started = 0;   // buckets of the step whose first message has left
    bool whole = false;   // the step's gradients are exchanged as they are
    at::Tensor sum;       // [n] fp32, scratch for a bucket
    at::Tensor overflow;  // [1] fp32, with a loss scale: not 0 if a sum of this step is not finite
    StrategyTraffic traffic;
    std::string sums;
  };

  Bucket makeBucket(const Replica& replica, Slice slice) const;
  int roundsOf(const ReplicaState& state) const { return state.whole ? 1 : method_.rounds; }
  void send(const Replica& replica, Bucket& bucket, int round);
  /// Waits for the last message, and replaces the bucket's gradient by the sum.
  void receive(const Replica& replica, Bucket& bucket);
  void keepErrors(const Replica& replica);

  const StrategyContext context_;
  const CompressionEntry& method_;
  std::vector<ReplicaState> states_;
  double all_;  // replicas of all processes
};

Compressed::Compressed(const StrategyContext& context)
    : context_(context),
      method_(methodOf(context.compression)),
      states_(context.devices.size()),
      all_(static_cast<double>(allReplicas(context))) {
  auto groups = joinedGroups(context);
  for (size_t i = 0; i < states_.size(); ++i) states_[i].group = std::move(groups[i]);
}

Compressed::Bucket Compressed::makeBucket(const Replica& replica, Slice slice) const {
  const JoinedPlace place = joinedPlace(replica.index, static_cast<int>(states_.size()), context_.world);
  const at::Tensor zeros = at::zeros({slice.count()}, at::device(replica.buffers.device()).dtype(at::kFloat));
  return {slice,
          method_.make({.matrices = matricesOf(replica.buffers, slice),
                        .count = slice.count(),
                        .replicas = place.size,
                        .replica = place.index,
                        .device = replica.buffers.device(),
                        .options = context_.compression}),
          zeros, zeros.clone()};
}

void Compressed::attach(Replica& replica) {
  ReplicaState& state = states_[replica.index];
  broadcastParameters(*state.group, replica.buffers);
  state.tracker = std::make_unique<BucketTracker>(replica.buffers, planBuckets(replica.buffers, context_.buckets));
  state.buckets.clear();
  int64_t longest = 0;
  state.traffic = {};
  std::vector<int64_t> bytes;
  for (const Slice slice : state.tracker->buckets()) {
    state.buckets.push_back(makeBucket(replica, slice));
    longest = std::max(longest, slice.count());
    for (int round = 0; round < method_.rounds; ++round) {
      const auto size = static_cast<int64_t>(state.buckets.back().compressor->message(round).nbytes());
      if (size == 0) continue;
      bytes.push_back(size);
      state.traffic += joinedTraffic(context_, method_.exchange, size);
    }
  }
  state.sums = method_.exchange == Collective::sum ? context_.allReduce.textFor(bytes) : "";
  const auto options = at::device(replica.buffers.device()).dtype(at::kFloat);
  state.sum = at::zeros({longest}, options);
  if (replica.lossScale != nullptr) state.overflow = at::zeros({1}, options);
}

void Compressed::beginStep(Replica& replica, int64_t step) {
  states_[replica.index].whole = step < context_.compression.start;
  replica.optimizer.beginStep(step, 1.0 / all_);
}

// Messages leave in the order of buckets, equal on all replicas.
void Compressed::gradientReady(Replica& replica, Slice slice) {
  ReplicaState& state = states_[replica.index];
  const auto startable = static_cast<size_t>(state.tracker->note(slice));
  for (; state.started < startable; ++state.started) {
    Bucket& bucket = state.buckets[state.started];
    recordGradientHandoff(replica.buffers.gradientBytes(bucket.slice));
    const at::Tensor gradient = replica.buffers.gradient(bucket.slice).to(at::kFloat);
    const LossScale* scale = replica.lossScale;
    at::add_out(bucket.values, bucket.error, scale == nullptr ? gradient : gradient / scale->factor());
    send(replica, bucket, 0);
  }
  state.group->progress();
}

void Compressed::send(const Replica& replica, Bucket& bucket, int round) {
  ReplicaState& state = states_[replica.index];
  if (state.whole) {
    bucket.ticket = state.group->start(bucket.values, Collective::sum);
    return;
  }
  bucket.compressor->encode(round, bucket.values);
  bucket.ticket = state.group->start(bucket.compressor->message(round), method_.exchange);
}

void Compressed::receive(const Replica& replica, Bucket& bucket) {
  ReplicaState& state = states_[replica.index];
  state.group->wait(bucket.ticket);
  const at::Tensor sum = state.whole ? bucket.values : state.sum.narrow(0, 0, bucket.slice.count());
  if (!state.whole) bucket.compressor->decode(bucket.values, sum);
  replica.buffers.gradient(bucket.slice).copy_(replica.lossScale == nullptr ? sum : sum * replica.lossScale->factor());
}

// A bucket is updated while later ones are still exchanged, unless all must be known first. The sums, and so what is
// known of them, are equal to the bit on all replicas.
void Compressed::endStep(Replica& replica) {
  ReplicaState& state = states_[replica.index];
  check(state.started == state.buckets.size(), "every gradient was reported in the step");
  for (int round = 1; round < roundsOf(state); ++round) {
    for (Bucket& bucket : state.buckets) {
      state.group->wait(bucket.ticket);
      send(replica, bucket, round);
    }
  }
  for (Bucket& bucket : state.buckets) {
    receive(replica, bucket);
    if (!knowsAllFirst(replica)) replica.optimizer.update(bucket.slice);
    if (replica.lossScale != nullptr) markNonFinite(replica.buffers.gradient(bucket.slice), state.overflow);
    if (replica.optimizer.clips()) replica.optimizer.measure(bucket.slice);
  }
  if (replica.lossScale != nullptr) replica.lossScale->join(state.overflow);
  if (knowsAllFirst(replica)) {
    clipNoted(replica);
    for (const Bucket& bucket : state.buckets) replica.optimizer.update(bucket.slice);
  }
  keepErrors(replica);
}

void Compressed::keepErrors(const Replica& replica) {
  ReplicaState& state = states_[replica.index];
  if (!state.whole) {
    for (Bucket& bucket : state.buckets) {
      keepUnless(state.overflow, bucket.error, bucket.values);
      bucket.compressor->endStep(state.overflow);
    }
  }
  if (state.overflow.defined()) state.overflow.zero_();
  state.tracker->reset();
  state.started = 0;
}

}  // namespace

std::unique_ptr<Strategy> makeCompressed(const StrategyContext& context) {
  return std::make_unique<Compressed>(context);
}

}  // namespace tandem
