#include "train/serving_replica.h"

#include "base/error.h"

namespace tandem {
namespace {

class ServingReplica final : public ReplicaBase {
 public:
  ServingReplica(int index, const ReplicaShared& shared) : ReplicaBase(index, shared) {
    shared_.strategy.attach(replica_);
  }

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
  StateTensors ownState() override { return {}; }
  void setOwnState(const StateTensors&) override {}
  void setStatistics(const StateTensors&) override {}
  void swapStatistics() override {}
  void continueAt(int64_t step) override { step_ = step; }
  void readFrom(const BatchSourceMaker&) override {}
  Executor& executor() override { throw InternalError("a replica that only serves has no executor"); }

 private:
  const Batch batch_;
  int64_t step_ = 0;
};

}  // namespace

std::unique_ptr<ReplicaSet::Member> makeServingReplica(int index, const ReplicaShared& shared) {
  return std::make_unique<ServingReplica>(index, shared);
}

}  // namespace tandem
