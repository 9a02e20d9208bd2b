#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "data/dataset/wrapped_dataset.h"

namespace tandem {

/// What a cache holds.
struct KeptSamples {
  int64_t samples = 0, bytes = 0;

  bool operator==(const KeptSamples&) const = default;
};

/// A data set whose samples are kept in memory once they were read, as its files hold them, with their labels. A sample
/// that cannot be read is not kept. Which of them are kept is decided by who comes first, and for good: in a random
/// order each sample is read once an epoch, so none is worth more than another. Thread-safe; what is kept is found
/// without a lock.
class CachedDataset final : public WrappedDataset {
 public:
  /// `mostBytes`: of samples, labels and what finds them.
  CachedDataset(std::shared_ptr<const Dataset> files, int64_t mostBytes);
  ~CachedDataset() override;
  CachedDataset(const CachedDataset&) = delete;
  CachedDataset& operator=(const CachedDataset&) = delete;

  Sample read(int64_t index, std::vector<uint8_t>& memory, std::span<uint8_t> label) const override;
  KeptSamples kept() const { return {samples_.load(), bytes_.load()}; }

 private:
  struct Kept {
    std::vector<uint8_t> bytes, label;
  };
  void keep(std::atomic<const Kept*>& place, const Sample& sample, std::span<const uint8_t> label) const;
  /// Whether so many bytes may be taken, which then are.
  bool reserve(int64_t bytes) const;

  const int64_t mostBytes_;
  mutable std::vector<std::atomic<const Kept*>>
      places_;  // of each sample; null: it is not kept. Empty: the bound is less than they take
  mutable std::atomic<int64_t> samples_{0}, bytes_;
};

/// What several caches hold, each of which has a number. Thread-safe.
class CacheUse {
 public:
  void set(int64_t cache, const KeptSamples& kept);
  KeptSamples sum() const;

 private:
  mutable Mutex mutex_;
  std::map<int64_t, KeptSamples> kept_ TANDEM_GUARDED_BY(mutex_);
};

}  // namespace tandem
