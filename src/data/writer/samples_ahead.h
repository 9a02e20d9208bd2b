#pragma once

#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "data/loader/ordered_queue.h"
#include "data/writer/container.h"

namespace tandem {

/// Images [first, end) of a split.
struct ImageRange {
  int64_t first = 0, end = 0;

  int64_t size() const { return end - first; }
};

/// A sample, or why it could not be read.
struct MadeSample {
  std::optional<WrittenSample> sample;
  std::string fault;
};

/// Makes the samples of some ranges ahead, by a thread for each core, and gives them in order.
class SamplesAhead {
 public:
  using Make = std::function<WrittenSample(int64_t index)>;

  /// `skipBad`: an image that cannot be read becomes a fault; else next() throws its DataError. REQUIRES: all ranges
  /// but the last are of one size; `make` outlives this.
  SamplesAhead(const Make& make, std::vector<ImageRange> ranges, bool skipBad);
  ~SamplesAhead() { queue_.stop(); }
  SamplesAhead(const SamplesAhead&) = delete;
  SamplesAhead& operator=(const SamplesAhead&) = delete;

  /// REQUIRES: there is a next one. Throws what `make` throws.
  MadeSample next();

 private:
  void produce();
  MadeSample made(int64_t index) const;

  const Make& make_;
  const std::vector<ImageRange> ranges_;
  const bool skipBad_;
  int64_t all_ = 0;
  OrderedQueue<MadeSample> queue_;
  std::vector<std::jthread> threads_;  // last member: joined before the queue is destroyed
};

}  // namespace tandem
