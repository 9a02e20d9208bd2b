#pragma once

#include <functional>

#include "measure/record/record.h"

namespace tandem {

/// The batches among which --batch=max searches, images per replica: multiples of `unit` up to `most`.
struct BatchRange {
  int64_t guess = 1;  ///< where to begin
  int64_t most = 1;   ///< at least `unit`
  int64_t unit = 1;   ///< parts in which a batch runs (--accumulate)
  std::string bound;  ///< what keeps it from being larger than `most`

  bool operator==(const BatchRange&) const = default;
};

/// What trying one batch came to.
struct BatchTrial {
  Outcome outcome;  ///< ok: it fits; out of memory: it does not; any other failure says nothing of its size
  int64_t peakBytes = 0;
};

struct FoundBatch {
  int64_t batch = 0;   ///< 0: none
  Outcome outcome;     ///< ok when there is one
  BatchSearch search;  ///< without availableBytes and limitBytes
};

/// The largest batch that fits. From the guess on the distance to the next one tried doubles, an eighth of the guess at
/// first, upwards until one does not fit, or downwards until one does; then the space between is halved. The result is
/// exact below 128 units; from there on batches are multiples of 2, from 256 on of 4, and so on (the power of two that
/// is at most 1/64 of them), and the next multiple does not fit. A guess within an eighth costs about six probes, one
/// that is wrong by a factor f about 14 + log2(f) at the most.
///
/// A failure other than for want of memory ends the search and is its outcome. When not even `unit` images fit the
/// outcome is failed, usage, out of memory.
FoundBatch searchBatch(const BatchRange& range, const std::function<BatchTrial(int64_t batch)>& probe);

}  // namespace tandem
