#include "run/training/whitened_weights.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "kernels/tensor/normalize.h"
#include "run/inference.h"

namespace tandem {
namespace {

constexpr int64_t whitened = 5000;  // images; of the source
constexpr int64_t together = 100;

/// Makes the images in their order. Its bad images are not those of the training, which counts each when it comes to
/// it.
BatchMaker makerOf(const RunPlan& plan, const std::shared_ptr<const Dataset>& images) {
  const ImageShape input = plan.graph->node(plan.graph->input()).shape;
  return {images,
          {.globalBatch = together,
           .count = together,
           .height = input.height,
           .width = input.width,
           .shuffle = false,
           .augment = std::make_shared<const Augmentation>(Augmentation{"", evaluationChain(plan, images->info())}),
           .badImages = badImagesOf(plan, images->size(), /*leavesOut=*/true),
           .parts = plan.setup.decoding->parts}};
}

}  // namespace

WhiteningWeights whitenedWeights(const RunPlan& plan, const TrainingData& data) {
  const at::NoGradGuard noGradients;
  WhiteningWeights weights;
  for (const NodeId id : whiteningNodes(*plan.graph)) {
    const Node& node = plan.graph->node(id);
    const BatchMaker maker = makerOf(plan, data.images);
    Whitening whitening(node.attributes.kernelH, node.attributes.kernelW);
    const int64_t images = std::min(whitened, data.images->size());
    for (int64_t k = 0; k * together < images; ++k) {
      const at::Tensor bytes = maker.make(k).images.narrow(0, 0, std::min(together, images - k * together));
      at::Tensor normalised = at::empty({bytes.size(0), 3, bytes.size(1), bytes.size(2)}, at::kFloat);
      normalize(bytes, maker.normalization(), normalised);
      whitening.add(normalised);
    }
    weights.emplace_back(node.name + ".weight", whitening.weight());
  }
  return weights;
}

}  // namespace tandem
