#include <ATen/ATen.h>

#include "base/error.h"
#include "train/loss/loss_placement.h"

namespace tandem {
namespace {

class ReplicaLoss final : public LossPlacement {
 public:
  explicit ReplicaLoss(const LossPlacementOptions& options) : options_(options) {
    for (const Device* device : options.devices) losses_.push_back(options.loss->on(device->torch()));
  }

  bool needsSource(int) const override { return true; }
  int share() const override { return 1; }

  void fetch(int index, BatchSource* source, Batch& out) override {
    check(source->next(out), "a training source ended");
    options_.devices.at(static_cast<size_t>(index))->wait(out.ready);
  }

  LossAndGradient compute(int index, const at::Tensor& output, const at::Tensor& labels, int64_t batch) override {
    return losses_.at(static_cast<size_t>(index))(output, labels, options_.smoothing, batch);
  }

 private:
  LossPlacementOptions options_;
  std::vector<Loss> losses_;  // per replica
};

}  // namespace

std::unique_ptr<LossPlacement> makeReplicaLoss(const LossPlacementOptions& options) {
  return std::make_unique<ReplicaLoss>(options);
}

}  // namespace tandem
