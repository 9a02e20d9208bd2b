#pragma once

#include <functional>

#include "measure/record/record.h"

namespace tandem {

/// The batches that --batch=max searches, in images per replica: the multiples of `unit` up to `most`.
struct BatchRange {
  int64_t guess = 1;  ///< the first batch to try
  int64_t most = 1;   ///< at least `unit`
  int64_t unit = 1;   ///< number of micro-batches (--accumulate)
  std::string bound;  ///< why no batch above `most` is tried

  bool operator==(const BatchRange&) const = default;
};

/// The result of one probe.
struct BatchTrial {
  Outcome outcome;  ///< ok: the batch fits; outOfMemory: it does not; any other failure says nothing about its size
  int64_t peakBytes = 0;
};

struct FoundBatch {
  int64_t batch = 0;   ///< 0: none fits, or the search ended early
  Outcome outcome;     ///< ok if a batch was found
  BatchSearch search;  ///< availableBytes and limitBytes are the caller's to set
};

/// Searches the largest batch that fits. It tries the guess, then moves up until a batch does not fit, or down until
/// one does. The first stride is an eighth of the guess; strides double. Then the interval is halved.
///
/// The result is exact below 128 units. From there on batches are multiples of 2, from 256 units on of 4, and so on: of
/// the largest power of two that is at most 1/64 of the batch. The next multiple does not fit. A guess within an eighth
/// costs about six probes; a guess wrong by a factor f costs at most about 14 + log2(f).
///
/// If even `unit` images do not fit, the outcome is failed, `usage`, outOfMemory. A failure other than out of memory
/// ends the search and is its outcome.
FoundBatch searchBatch(const BatchRange& range, const std::function<BatchTrial(int64_t batch)>& probe);

}  // namespace tandem
