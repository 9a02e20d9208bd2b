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

template <auto loss>
Loss anywhere(at::Device device, const at::Tensor& classWeights) {
  const at::Tensor weights = classWeights.defined() ? classWeights.to(device, at::kFloat) : at::Tensor();
  return [weights](const at::Tensor& output, const at::Tensor& labels, double smoothing, double divisor) {
    return loss(output, labels, smoothing, divisor, weights);
  };
}

Loss multiboxOn(at::Device device, const at::Tensor&) {
  return [boxes = ssdDefaultBoxes().to(device)](const at::Tensor& output, const at::Tensor& labels, double smoothing,
                                                double divisor) {
    return multiboxLoss(output, labels, boxes, smoothing, divisor);
  };
}

LossAndGradient multiboxOracle(const at::Tensor& output, const at::Tensor& labels, double smoothing, double divisor,
                               const at::Tensor&) {
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
      LossEntry{task("softmax_cross_entropy"), "class", anywhere<softmaxCrossEntropy>, softmaxCrossEntropyReference,
                &judgeOfClasses()},
      LossEntry{task("binary_cross_entropy"), "flags", anywhere<binaryCrossEntropy>, binaryCrossEntropyReference,
                &judgeOfFlags()},
      LossEntry{task("multibox"), "boxes", multiboxOn, multiboxOracle, nullptr, /*weighsClasses=*/false},
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
