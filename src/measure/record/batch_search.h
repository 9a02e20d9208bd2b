#pragma once

#include <cstdint>
#include <string>

namespace tandem {

/// Result of the search of --batch=max, which runs a few steps with more and fewer images.
struct BatchSearch {
  int64_t probes = 0;
  int64_t availableBytes = 0;  ///< memory available on the host when the search began, or on the smallest GPU
  int64_t limitBytes = 0;      ///< limit on a probe's resident set; 0: on a GPU its allocator refuses instead
  int64_t peakBytes = 0;       ///< peak of the largest batch that fitted; 0: none did
  int64_t tooLarge = 0;        ///< the smallest batch that did not fit; 0: all did
  std::string stoppedBy;       ///< why that probe stopped; if all fitted, why no larger batch was tried

  bool operator==(const BatchSearch&) const = default;
};

/// One line with the batch, its memory, the memory left and the batches tried.
std::string textOf(const BatchSearch& search, int64_t batch);

}  // namespace tandem
