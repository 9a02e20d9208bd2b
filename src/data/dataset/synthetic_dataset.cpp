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

  Sample read(int64_t index, std::vector<uint8_t>& memory, std::span<uint8_t> labelOut) const override {
    check(index >= 0 && index < size_, "SyntheticDataset::read: index");
    memory.resize(static_cast<size_t>(info_.height * info_.width * info_.channels));
    CounterRandom random(randomKey(RandomUse::pixels, seed_, index));
    size_t at = 0;
    for (; at + sizeof(uint64_t) <= memory.size(); at += sizeof(uint64_t)) {
      const uint64_t bytes = random.next();
      std::memcpy(memory.data() + at, &bytes, sizeof bytes);
    }
    const uint64_t last = random.next();
    if (at < memory.size()) std::memcpy(memory.data() + at, &last, memory.size() - at);
    CounterRandom label(randomKey(RandomUse::label, seed_, index));
    info_.labels->draw(label, info_.classes, labelOut);
    return {.bytes = memory, .height = info_.height, .width = info_.width, .channels = info_.channels};
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
