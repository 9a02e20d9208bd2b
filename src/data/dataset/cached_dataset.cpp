#include "data/dataset/cached_dataset.h"

#include <algorithm>

namespace tandem {
namespace {

int64_t placesBytes(const Dataset& files) { return files.size() * static_cast<int64_t>(sizeof(std::atomic<void*>)); }

}  // namespace

CachedDataset::CachedDataset(std::shared_ptr<const Dataset> files, int64_t mostBytes)
    : WrappedDataset(std::move(files)),
      mostBytes_(mostBytes),
      places_(placesBytes(inner()) <= mostBytes ? static_cast<size_t>(inner().size()) : 0),
      bytes_(places_.empty() ? 0 : placesBytes(inner())) {}

CachedDataset::~CachedDataset() {
  for (const auto& place : places_) delete place.load();
}

bool CachedDataset::reserve(int64_t bytes) const {
  int64_t before = bytes_.load();
  while (bytes <= mostBytes_ - before) {
    if (bytes_.compare_exchange_weak(before, before + bytes)) return true;
  }
  return false;
}

void CachedDataset::keep(std::atomic<const Kept*>& place, const Sample& sample, std::span<const uint8_t> label) const {
  constexpr size_t ofAllocations = 3 * 16;  // that the allocator takes beside them
  const auto bytes = static_cast<int64_t>(sizeof(Kept) + sample.bytes.size() + label.size() + ofAllocations);
  if (!reserve(bytes)) return;
  auto kept =
      std::make_unique<const Kept>(Kept{{sample.bytes.begin(), sample.bytes.end()}, {label.begin(), label.end()}});
  const Kept* none = nullptr;
  if (place.compare_exchange_strong(none, kept.get())) {
    kept.release();
    ++samples_;
  } else {  // another thread came first
    bytes_ -= bytes;
  }
}

Sample CachedDataset::read(int64_t index, std::vector<uint8_t>& memory, std::span<uint8_t> label) const {
  if (places_.empty()) return inner().read(index, memory, label);
  std::atomic<const Kept*>& place = places_.at(static_cast<size_t>(index));
  if (const Kept* const kept = place.load(std::memory_order_acquire)) {
    std::ranges::copy(kept->label, label.begin());
    return {.bytes = kept->bytes, .height = info().height, .width = info().width, .channels = info().channels};
  }
  const Sample sample = inner().read(index, memory, label);
  keep(place, sample, label);
  return sample;
}

void CacheUse::set(int64_t cache, const KeptSamples& kept) {
  const MutexLock lock(mutex_);
  kept_[cache] = kept;
}

KeptSamples CacheUse::sum() const {
  const MutexLock lock(mutex_);
  KeptSamples sum;
  for (const auto& [cache, kept] : kept_) sum.samples += kept.samples, sum.bytes += kept.bytes;
  return sum;
}

}  // namespace tandem
