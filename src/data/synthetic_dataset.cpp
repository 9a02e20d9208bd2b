#include <cstring>

#include "base/error.h"
#include "data/counter_random.h"
#include "data/dataset.h"

namespace tandem {
namespace {

class SyntheticDataset final : public Dataset {
 public:
  SyntheticDataset(DatasetInfo info, int64_t size, uint64_t seed) : info_(std::move(info)), size_(size), seed_(seed) {}

  const DatasetInfo& info() const override { return info_; }
  int64_t size() const override { return size_; }

  int64_t get(int64_t index, std::span<uint8_t> out) const override {
    check(index >= 0 && index < size_, "SyntheticDataset::get: index");
    CounterRandom random(randomKey(RandomUse::pixels, seed_, index));
    size_t at = 0;
    for (; at + sizeof(uint64_t) <= out.size(); at += sizeof(uint64_t)) {
      const uint64_t bytes = random.next();
      std::memcpy(out.data() + at, &bytes, sizeof bytes);
    }
    const uint64_t last = random.next();
    if (at < out.size()) std::memcpy(out.data() + at, &last, out.size() - at);
    CounterRandom label(randomKey(RandomUse::label, seed_, index));
    return static_cast<int64_t>(label.below(static_cast<uint64_t>(info_.classes)));
  }

 private:
  const DatasetInfo info_;
  const int64_t size_;
  const uint64_t seed_;
};

}  // namespace

std::unique_ptr<Dataset> syntheticDataset(int64_t size, int64_t height, int64_t width, int64_t classes, uint64_t seed) {
  check(size >= 1 && height >= 1 && width >= 1 && classes >= 1, "syntheticDataset: sizes");
  DatasetInfo info{
      .name = "synthetic", .height = height, .width = width, .channels = 3, .classes = classes, .normalization = {}};
  return std::make_unique<SyntheticDataset>(std::move(info), size, seed);
}

}  // namespace tandem
