#pragma once

#include <cstdint>
#include <string>

namespace tandem {

/// How --batch=max came to a batch: runs of a few steps, with more and fewer images.
struct BatchSearch {
  int64_t probes = 0;
  int64_t availableBytes = 0;  ///< on the host when the search began, or of the smallest GPU
  int64_t limitBytes = 0;      ///< of a probe's resident set; 0: a GPU, whose allocator refuses
  int64_t peakBytes = 0;       ///< of the largest batch that fitted; 0: none did
  int64_t tooLarge = 0;        ///< the smallest batch that did not fit; 0: all did
  std::string stoppedBy;       ///< what ended that probe; where all fitted, why none was larger

  bool operator==(const BatchSearch&) const = default;
};

/// In one line: the batch that was found, its memory and what is left, and what was tried.
std::string textOf(const BatchSearch& search, int64_t batch);

}  // namespace tandem
