#pragma once

#include <vector>

#include "data/dataset/dataset.h"

namespace tandem {

/// Some images of a data set of image files, as many as fit into `mostBytes` (at least one), decoded and in memory:
/// what the data set would be if it kept pixels. The shorter side is scaled to `side` and the middle cropped, as
/// `tandem data convert --size` does. They are taken evenly from the whole; those that cannot be read are passed over.
/// Thread-safe.
class DecodedDataset final : public Dataset {
 public:
  /// Throws DataError if it can read none.
  DecodedDataset(const Dataset& files, int64_t side, int64_t mostBytes);
  const DatasetInfo& info() const override { return info_; }
  int64_t size() const override { return static_cast<int64_t>(samples_.size()); }
  Sample read(int64_t index, std::vector<uint8_t>& memory, std::span<uint8_t> label) const override;

  int64_t imageBytes() const { return info_.height * info_.width * info_.channels; }

 private:
  struct Kept {
    std::vector<uint8_t> pixels, label;
  };
  void add(const Dataset& files, int64_t index);

  DatasetInfo info_;
  std::vector<Kept> samples_;
};

}  // namespace tandem
