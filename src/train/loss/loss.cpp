#include "train/loss/loss.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>

#include "base/catalog.h"
#include "kernels/loss/losses.h"
#include "train/loss/judges.h"
#include "train/loss/output_placements.h"

namespace tandem {
namespace {

/// The weights of the classes on that device.
at::Tensor weightsOn(at::Device device, const LossOptions& options) {
  return options.classWeights.defined() ? options.classWeights.to(device, at::kFloat) : at::Tensor();
}

template <auto loss>
Loss anywhere(at::Device device, const LossOptions& options) {
  return [weights = weightsOn(device, options)](const at::Tensor& output, const at::Tensor& labels, double smoothing,
                                                double divisor) {
    return loss(output, labels, smoothing, divisor, weights);
  };
}

template <auto loss>
LossAndGradient oracle(const at::Tensor& output, const at::Tensor& labels, double smoothing, double divisor,
                       const LossOptions& options) {
  return loss(output, labels, smoothing, divisor, options.classWeights);
}

Loss oneHotOn(at::Device device, const LossOptions& options) {
  return [weights = weightsOn(device, options), threshold = options.targetThreshold](
             const at::Tensor& output, const at::Tensor& labels, double smoothing, double divisor) {
    return oneHotBinaryCrossEntropy(output, labels, smoothing, divisor, threshold, weights);
  };
}

LossAndGradient oneHotOracle(const at::Tensor& output, const at::Tensor& labels, double smoothing, double divisor,
                             const LossOptions& options) {
  return oneHotBinaryCrossEntropyReference(output, labels, smoothing, divisor, options.targetThreshold,
                                           options.classWeights);
}

Loss multiboxOn(at::Device device, const LossOptions&) {
  return [boxes = ssdDefaultBoxes().to(device)](const at::Tensor& output, const at::Tensor& labels, double smoothing,
                                                double divisor) {
    return multiboxLoss(output, labels, boxes, smoothing, divisor);
  };
}

LossAndGradient multiboxOracle(const at::Tensor& output, const at::Tensor& labels, double smoothing, double divisor,
                               const LossOptions&) {
  return multiboxLossReference(output, labels, smoothing, divisor);
}

constexpr std::array<LossPlacementEntry, 2> placeRows{{
    {"replica", "each replica computes the loss of its own batch", false, makeOwnFeed, makeOwnOutputs},
    {"gathered", "the batch is sliced from replica 0, outputs are gathered and the loss is computed there", true,
     makeScatteredFeed, makeGatheredOutputs},
}};

}  // namespace

std::span<const LossEntry> losses() {
  const auto task = [](std::string_view name) { return &find(taskLosses(), name, "loss"); };
  static const std::array rows{
      LossEntry{task("softmax_cross_entropy"), "class", anywhere<softmaxCrossEntropy>,
                oracle<softmaxCrossEntropyReference>, &judgeOfClasses()},
      LossEntry{task("binary_cross_entropy"), "flags", anywhere<binaryCrossEntropy>,
                oracle<binaryCrossEntropyReference>, &judgeOfFlags()},
      LossEntry{task("multibox"), "boxes", multiboxOn, multiboxOracle, nullptr, /*weighsClasses=*/false},
      LossEntry{task("one_hot_binary_cross_entropy"), "class", oneHotOn, oneHotOracle, &judgeOfClasses(),
                /*weighsClasses=*/true, /*thresholds=*/true},
  };
  return rows;
}

std::span<const LossPlacementEntry> lossPlacements() { return placeRows; }

const LossEntry& lossOf(const Graph& graph) {
  const auto row = std::ranges::find(losses(), &graph.loss(), &LossEntry::task);
  check(row != losses().end(), "a loss of the catalog is not computed");
  return *row;
}

const LabelKind& labelsOf(const Graph& graph) { return find(labelKinds(), lossOf(graph).labels, "kind of labels"); }

}  // namespace tandem
