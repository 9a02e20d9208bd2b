#include <ATen/ATen.h>

#include "base/error.h"
#include "device/replica_progress.h"
#include "train/loss/output_placements.h"

namespace tandem {
namespace {

/// Replica 0 is the root. It gathers outputs and labels and computes one loss; every replica takes its slice of the
/// gradient.
class GatheredOutputs final : public OutputPlacement {
 public:
  explicit GatheredOutputs(const OutputPlacementOptions& options)
      : options_(options),
        loss_(options.loss->on(options.devices.at(0)->torch(), options.counting)),
        given_(options.devices.size()),
        outputs_(options.devices.size()),
        labels_(options.devices.size()),
        callOf_(options.devices.size(), 0) {}

  LossAndGradient compute(int index, const at::Tensor& output, const at::Tensor& labels, double divisor) override;

 private:
  const Device& device(int index) const { return *options_.devices.at(static_cast<size_t>(index)); }
  at::Tensor gathered(const std::vector<at::Tensor>& parts) const;
  void computeJoined(int64_t call, double divisor);

  const OutputPlacementOptions options_;
  Loss loss_;                                 // on the root's device
  std::vector<ReplicaProgress> given_;        // the number of calls whose output and labels are here, per replica
  std::vector<at::Tensor> outputs_, labels_;  // per replica
  ReplicaProgress computed_;                  // the number of calls whose result is computed
  LossAndGradient result_;                    // of the joined batch, on the root's device
  std::vector<int64_t> begins_;               // where each replica's rows begin in it
  std::vector<int64_t> callOf_;               // calls of each replica, touched by its thread only
};

at::Tensor GatheredOutputs::gathered(const std::vector<at::Tensor>& parts) const {
  std::vector<at::Tensor> here;
  for (const at::Tensor& part : parts) here.push_back(part.to(device(0).torch(), /*non_blocking=*/true));
  return at::cat(here);
}

void GatheredOutputs::computeJoined(int64_t call, double divisor) {
  for (const ReplicaProgress& given : given_) given.await(call, device(0), *options_.monitor);
  result_ = loss_(gathered(outputs_), gathered(labels_), options_.smoothing, divisor);
  begins_.assign(1, 0);
  for (const at::Tensor& output : outputs_) begins_.push_back(begins_.back() + output.size(0));
  computed_.publish(call, device(0).record(), *options_.monitor);
}

// The root does not replace the result too early. It first waits for every replica's next output. A replica enqueues
// that after its slice of this gradient.
LossAndGradient GatheredOutputs::compute(int index, const at::Tensor& output, const at::Tensor& labels,
                                         double divisor) {
  const auto at = static_cast<size_t>(index);
  const int64_t call = ++callOf_[at];
  outputs_[at] = output, labels_[at] = labels;
  given_[at].publish(call, device(index).record(), *options_.monitor);
  if (index == 0) {
    computeJoined(call, divisor);
  } else {
    computed_.await(call, device(index), *options_.monitor);
  }
  const at::Device here = device(index).torch();
  return {result_.loss.to(here),
          result_.gradient.narrow(0, begins_[at], output.size(0)).to(here, /*non_blocking=*/true).contiguous()};
}

}  // namespace

std::unique_ptr<OutputPlacement> makeGatheredOutputs(const OutputPlacementOptions& options) {
  return std::make_unique<GatheredOutputs>(options);
}

}  // namespace tandem
