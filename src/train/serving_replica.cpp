#include "train/serving_replica.h"

#include "base/error.h"
#include "train/weight_init.h"

namespace tandem {
namespace {

class ServingReplica final : public ReplicaSet::Member {
 public:
  ServingReplica(int index, const ReplicaShared& shared)
      : shared_(shared),
        device_(shared.options.devices.at(static_cast<size_t>(index))),
        buffers_(parameterSpecs(*shared.options.graph, executorOptions(index, shared)), *shared.options.precision,
                 device_.torch(), shared.options.kernels.layout.format),
        optimizer_(makeOptimizer(buffers_, shared.options.optimizer)),
        lossScale_(lossScaleFor(shared.options, device_)),
        replica_{index, device_, buffers_, *optimizer_, lossScale_.get()} {
    shared_.strategy.attach(replica_);
  }

  int index() const override { return replica_.index; }
  StepSample step() override {
    const Nanos begin = now();
    shared_.strategy.beginStep(replica_, step_++);
    shared_.strategy.endStep(replica_);
    if (lossScale_) lossScale_->endStep();
    const Nanos wall = now() - begin;
    return {.replica = replica_.index, .wall = wall, .exposedComm = wall};
  }
  const Batch& batch() const override { return batch_; }
  std::vector<double> losses() override { return {}; }
  std::optional<LossScaleState> lossScale() override { return std::nullopt; }
  void synchronize() override { device_.synchronize(shared_.monitor); }
  void barrier() override { shared_.barrier.arriveAndWait(); }
  void finish() override { shared_.strategy.finish(replica_); }
  Executor& executor() override { throw InternalError("a replica that only serves has no executor"); }
  FlatBuffers& buffers() override { return buffers_; }

 private:
  ReplicaShared shared_;
  const Device& device_;
  FlatBuffers buffers_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<LossScale> lossScale_;  // null without loss scaling
  Replica replica_;
  const Batch batch_;
  int64_t step_ = 0;
};

}  // namespace

std::unique_ptr<ReplicaSet::Member> makeServingReplica(int index, const ReplicaShared& shared) {
  return std::make_unique<ServingReplica>(index, shared);
}

}  // namespace tandem
