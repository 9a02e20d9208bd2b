#include <ATen/ATen.h>

#include "kernels/sgd.h"
#include "optim/optimizer.h"

namespace tandem {
namespace {

class SgdOptimizer final : public Optimizer {
 public:
  SgdOptimizer(FlatBuffers& buffers, const OptimizerOptions& options) : buffers_(buffers), options_(options) {}

  void allocateState() override {
    for (int segment = 0; options_.momentum != 0 && segment < buffers_.segments(); ++segment) {
      buffers_.momentum(buffers_.whole(segment));
    }
  }

  void update(Slice slice, int64_t step, double gradientScale) override {
    at::Tensor master = buffers_.master(slice);
    at::Tensor weights = buffers_.weights(slice);
    at::Tensor velocity = options_.momentum != 0 ? buffers_.momentum(slice) : at::Tensor();
    sgdUpdate(master, weights, buffers_.gradient(slice), velocity, stepAt(step, gradientScale));
  }

 private:
  SgdStep stepAt(int64_t step, double gradientScale) const {
    const double factor = options_.schedule == nullptr ? 1 : options_.schedule->factor(step, options_.totalSteps);
    return {.rate = static_cast<float>(options_.learningRate * factor),
            .momentum = static_cast<float>(options_.momentum),
            .weightDecay = static_cast<float>(options_.weightDecay),
            .scale = static_cast<float>(gradientScale),
            .nesterov = options_.nesterov};
  }

  FlatBuffers& buffers_;
  OptimizerOptions options_;
};

}  // namespace

std::unique_ptr<Optimizer> makeSgd(FlatBuffers& buffers, const OptimizerOptions& options) {
  return std::make_unique<SgdOptimizer>(buffers, options);
}

}  // namespace tandem
