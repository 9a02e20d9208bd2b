#include "data/dataset/decoded_dataset.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "formats/image/encode.h"

namespace tandem {
namespace {

/// Image i is a PNG of 20 x (10 + i) pixels of value i, with label i; those below `bad` are damaged, and the last of
/// them cannot be read at all.
class Files final : public Dataset {
 public:
  Files(int64_t size, int64_t bad) : size_(size), bad_(bad) { info_.name = "files", info_.classes = size; }
  const DatasetInfo& info() const override { return info_; }
  int64_t size() const override { return size_; }
  Sample read(int64_t index, std::vector<uint8_t>& memory, std::span<uint8_t> label) const override {
    storeClass(index, label);
    if (index + 1 == bad_) throw DataError("it is gone");
    const int64_t width = 10 + index;
    memory = imageEncodings().back().encode(
        {20, width, std::vector<uint8_t>(static_cast<size_t>(20 * width * 3), static_cast<uint8_t>(index))});
    if (index < bad_) memory.resize(9);
    return {.bytes = memory};
  }

 private:
  int64_t size_, bad_;
  DatasetInfo info_;
};

std::set<int64_t> labelsOf(const DecodedDataset& images) {
  std::set<int64_t> labels;
  std::vector<uint8_t> memory;
  for (int64_t i = 0; i < images.size(); ++i) {
    int64_t label = -1;
    const Sample sample = images.read(i, memory, {reinterpret_cast<uint8_t*>(&label), sizeof label});
    EXPECT_EQ(sample.bytes.size(), 8U * 8 * 3);
    EXPECT_EQ(sample.bytes.front(), label);
    labels.insert(label);
  }
  return labels;
}

TEST(DecodedDataset, HoldsSomeOfTheImagesTakenFromTheWhole) {
  const DecodedDataset images(Files(40, 0), 8, 5 * 8 * 8 * 3);
  EXPECT_EQ(images.info().height, 8);
  EXPECT_EQ(images.imageBytes(), 8 * 8 * 3);
  const auto labels = labelsOf(images);
  EXPECT_EQ(labels.size(), 5U);
  EXPECT_LT(*labels.begin(), 10);
  EXPECT_GT(*labels.rbegin(), 20);
}

TEST(DecodedDataset, PassesOverThoseThatCannotBeRead) {
  EXPECT_EQ(labelsOf(DecodedDataset(Files(4, 1), 8, 1 << 20)), (std::set<int64_t>{1, 2, 3}));
  EXPECT_EQ(DecodedDataset(Files(4, 0), 8, 1).size(), 1) << "at least one";
  EXPECT_THROW(DecodedDataset(Files(4, 4), 8, 1 << 20), DataError);
}

}  // namespace
}  // namespace tandem
