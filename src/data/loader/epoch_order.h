#pragma once

#include <cstdint>
#include <vector>

#include "data/dataset/dataset.h"

namespace tandem {

/// Indices of all samples of a data set, each once, in the order of an epoch.
using EpochOrder = std::vector<uint32_t>;

/// The order of an epoch, a function of (seed, epoch). So an epoch can be taken up at any position.
///
/// buffer 0: any order is as likely as another. Else shards are taken in random order, each from its beginning, as a
/// reader of streams does: the next sample is drawn from `buffer` samples, and the one behind them takes its place.
/// REQUIRES: the data set has shards then.
EpochOrder epochOrder(const Dataset& dataset, uint64_t seed, int64_t epoch, int64_t buffer);

}  // namespace tandem
