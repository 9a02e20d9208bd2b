#include <cstring>

#include "base/error.h"
#include "data/dataset/dataset.h"
#include "data/transform/counter_random.h"

namespace tandem {
namespace {

class SyntheticDataset final : public Dataset {
 public:
  SyntheticDataset(DatasetInfo info, int64_t size, uint64_t seed) : info_(std::move(info)), size_(size), seed_(seed) {}

  const DatasetInfo& info() const override { return info_; }
  int64_t size() const override { return size_; }

  void get(int64_t index, std::span<uint8_t> out, std::span<uint8_t> labelOut) const override {
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
    info_.labels->draw(label, info_.classes, labelOut);
  }

 private:
  const DatasetInfo info_;
  const int64_t size_;
  const uint64_t seed_;
};

}  // namespace

std::unique_ptr<Dataset> syntheticDataset(int64_t size, DatasetInfo info, uint64_t seed) {
  check(size >= 1 && info.height >= 1 && info.width >= 1 && info.classes >= 1, "syntheticDataset: sizes");
  info.name = "synthetic";
  info.channels = 3;
  return std::make_unique<SyntheticDataset>(std::move(info), size, seed);
}

}  // namespace tandem
