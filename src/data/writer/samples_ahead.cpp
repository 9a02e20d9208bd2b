#include "data/writer/samples_ahead.h"

#include <ATen/Parallel.h>

#include <algorithm>

#include "base/error.h"
#include "device/device.h"

namespace tandem {
namespace {

/// Samples that are made ahead, for each thread: as many as hide that some take longer.
constexpr int64_t aheadOfThread = 4;

}  // namespace

SamplesAhead::SamplesAhead(const Make& make, std::vector<ImageRange> ranges, bool skipBad)
    : make_(make), ranges_(std::move(ranges)), skipBad_(skipBad), queue_(aheadOfThread * at::get_num_threads()) {
  for (const ImageRange& range : ranges_) all_ += range.size();
  try {
    for (int64_t i = std::min<int64_t>(at::get_num_threads(), all_); i > 0; --i) {
      threads_.emplace_back([this] { produce(); });
    }
  } catch (...) {
    queue_.stop();
    throw;
  }
}

MadeSample SamplesAhead::next() {
  auto made = queue_.take();
  check(made.has_value(), "SamplesAhead: next() behind the last");
  return std::move(*made);
}

void SamplesAhead::produce() {
  Device::cpu(0, {}, 1).bindHelper();
  for (auto k = queue_.claim(); k && *k < all_; k = queue_.claim()) {
    try {
      const ImageRange& range = ranges_[static_cast<size_t>(*k / ranges_.front().size())];
      queue_.put(*k, made(range.first + *k % ranges_.front().size()));
    } catch (...) {
      queue_.fail(*k, std::current_exception());
    }
  }
}

MadeSample SamplesAhead::made(int64_t index) const {
  if (!skipBad_) return {make_(index), {}};
  try {
    return {make_(index), {}};
  } catch (const DataError& failure) {
    return {std::nullopt, failure.what()};
  }
}

}  // namespace tandem
