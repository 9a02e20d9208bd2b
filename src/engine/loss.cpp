#include "engine/loss.h"

#include <array>

#include "engine/loss_place.h"

namespace tandem {
namespace {

constexpr std::array<LossEntry, 1> lossRows{{
    {"softmax_cross_entropy", "one label per image, label smoothing by --label-smoothing", softmaxCrossEntropy},
}};

constexpr std::array<LossPlaceEntry, 2> placeRows{{
    {"replica", "each replica computes the loss of its own batch", makeReplicaLoss},
    {"gathered", "the batch is sliced from replica 0, outputs are gathered and the loss is computed there",
     makeGatheredLoss},
}};

}  // namespace

std::span<const LossEntry> losses() { return lossRows; }
std::span<const LossPlaceEntry> lossPlaces() { return placeRows; }

}  // namespace tandem
