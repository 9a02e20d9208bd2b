#include "run/training/whitened_weights.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "comm/world.h"
#include "data/loader/input_maker.h"
#include "kernels/tensor/normalize.h"
#include "run/inference.h"

namespace tandem {
namespace {

constexpr int64_t images = 5000;  // of the source
constexpr int64_t together = 100;

/// Calls visit(images [N, C, H, W] in fp32, normalised) for the first images.
template <class Visit>
void eachBatch(const RunPlan& plan, const TrainingData& data, const Visit& visit) {
  const Dataset& dataset = *data.images;
  const ImageShape input = plan.graph->node(plan.graph->input()).shape;
  const InputMaker inputs(dataset, evaluationChain(plan, dataset.info()), {input.height, input.width, 3});
  const at::Tensor pixels = at::empty({together, input.height, input.width, 3}, at::kByte);
  std::vector<uint8_t> label(labelBytes(*dataset.info().labels, dataset.info().classes));
  InputMemory memory;
  const int64_t end = std::min(images, dataset.size());
  for (int64_t first = 0; first < end; first += together) {
    int64_t count = 0;
    for (int64_t i = first; i < std::min(first + together, end); ++i) {
      try {
        inputs.make(i, {}, {{pixels[count].data_ptr<uint8_t>(), inputs.inputBytes()}, label, memory});
        ++count;
      } catch (const DataError&) {
        if (!data.bad) throw;  // else the training counts it when it comes to it
      }
    }
    if (count == 0) continue;
    at::Tensor normalised = at::empty({count, 3, input.height, input.width}, at::kFloat);
    normalize(pixels.narrow(0, 0, count), dataset.info().normalization, normalised);
    visit(normalised);
  }
}

}  // namespace

WhiteningWeights whitenedWeights(const RunPlan& plan, const TrainingData& data) {
  const at::NoGradGuard noGradients;
  WhiteningWeights weights;
  for (const NodeId id : whiteningNodes(*plan.graph)) {
    const Node& node = plan.graph->node(id);
    Whitening whitening(node.attributes.kernelH, node.attributes.kernelW);
    eachBatch(plan, data, [&](const at::Tensor& batch) { whitening.add(batch); });
    at::Tensor weight = whitening.weight().contiguous();
    if (plan.world != nullptr) {
      const std::string own(static_cast<const char*>(weight.const_data_ptr()), weight.nbytes());
      const std::string first = plan.world->fromFirst(own);
      check(first.size() == weight.nbytes(), "ranks train different networks");
      std::memcpy(weight.mutable_data_ptr(), first.data(), first.size());
    }
    weights.emplace_back(node.name + ".weight", weight);
  }
  return weights;
}

}  // namespace tandem
