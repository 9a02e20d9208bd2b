#include <ATen/ATen.h>

#include "train/loss/output_placements.h"

namespace tandem {
namespace {

class OwnOutputs final : public OutputPlacement {
 public:
  explicit OwnOutputs(const OutputPlacementOptions& options) : smoothing_(options.smoothing) {
    for (const Device* device : options.devices) losses_.push_back(options.loss->on(device->torch(), options.counting));
  }

  LossAndGradient compute(int index, const at::Tensor& output, const at::Tensor& labels, double divisor) override {
    return losses_.at(static_cast<size_t>(index))(output, labels, smoothing_, divisor);
  }

 private:
  const double smoothing_;
  std::vector<Loss> losses_;  // one per replica
};

}  // namespace

std::unique_ptr<OutputPlacement> makeOwnOutputs(const OutputPlacementOptions& options) {
  return std::make_unique<OwnOutputs>(options);
}

}  // namespace tandem
