#include "data/dataset/cached_dataset.h"

#include <gtest/gtest.h>

#include <latch>
#include <set>
#include <thread>

#include "base/text.h"

namespace tandem {
namespace {

constexpr int64_t images = 50, bytesOfImage = 1000;

/// Image files whose bytes are their number, which counts how often each is read. Some cannot be read.
class CountedFiles final : public Dataset {
 public:
  explicit CountedFiles(std::set<int64_t> torn = {}) : torn_(std::move(torn)), reads_(images) {
    info_.name = "counted", info_.classes = 10;
  }
  const DatasetInfo& info() const override { return info_; }
  int64_t size() const override { return images; }
  std::string nameOf(int64_t index) const override { return concat("file ", index); }
  Sample read(int64_t index, std::vector<uint8_t>& memory, std::span<uint8_t> label) const override {
    ++reads_[static_cast<size_t>(index)];
    storeClass(index % 10, label);
    if (torn_.contains(index)) throw DataError(concat("file ", index, " is torn"));
    memory.assign(static_cast<size_t>(bytesOfImage), static_cast<uint8_t>(index));
    return {.bytes = memory};
  }
  int64_t reads(int64_t index) const { return reads_[static_cast<size_t>(index)]; }
  int64_t reads() const {
    int64_t sum = 0;
    for (const auto& each : reads_) sum += each;
    return sum;
  }

 private:
  DatasetInfo info_;
  const std::set<int64_t> torn_;
  mutable std::vector<std::atomic<int64_t>> reads_;
};

/// Reads all images once; whether each is what its file holds.
bool readsAll(const Dataset& dataset) {
  bool right = true;
  for (int64_t i = 0; i < images; ++i) {
    std::vector<uint8_t> memory, label(sizeof(int64_t)), wanted(sizeof(int64_t));
    const Sample sample = dataset.read(i, memory, label);
    storeClass(i % 10, wanted);
    const std::vector<uint8_t> all(static_cast<size_t>(bytesOfImage), static_cast<uint8_t>(i));
    right = right && sample.encoded() && std::ranges::equal(sample.bytes, all) && label == wanted;
  }
  return right;
}

TEST(CachedDataset, ReadsEachFileOnce) {
  const auto files = std::make_shared<CountedFiles>();
  const CachedDataset cached(files, 1 << 20);
  for (int epoch = 0; epoch < 3; ++epoch) {
    EXPECT_TRUE(readsAll(cached));
    EXPECT_EQ(files->reads(), images) << epoch;
  }
  EXPECT_EQ(cached.kept().samples, images);
  EXPECT_GE(cached.kept().bytes, images * (bytesOfImage + 8));
  EXPECT_EQ(cached.nameOf(7), "file 7");
}

TEST(CachedDataset, KeepsWhoComesFirstAndNoMoreThanItMay) {
  const auto files = std::make_shared<CountedFiles>();
  constexpr int64_t most = 20 * bytesOfImage;
  const CachedDataset cached(files, most);
  for (int epoch = 0; epoch < 2; ++epoch) EXPECT_TRUE(readsAll(cached));
  const int64_t kept = cached.kept().samples;
  EXPECT_GT(kept, 10);
  EXPECT_LT(kept, 20);
  EXPECT_LE(cached.kept().bytes, most);
  EXPECT_EQ(files->reads(), kept + 2 * (images - kept));
  EXPECT_EQ(files->reads(0), 1);
  EXPECT_EQ(files->reads(images - 1), 2);
}

TEST(CachedDataset, WithoutRoomForItsIndexKeepsNothing) {
  const auto files = std::make_shared<CountedFiles>();
  const CachedDataset cached(files, 8 * images - 1);
  EXPECT_TRUE(readsAll(cached));
  EXPECT_EQ(cached.kept(), KeptSamples());
}

TEST(CachedDataset, KeepsNoErrors) {
  const auto files = std::make_shared<CountedFiles>(std::set<int64_t>{3});
  const CachedDataset cached(files, 1 << 20);
  std::vector<uint8_t> memory, label(sizeof(int64_t)), wanted(sizeof(int64_t));
  storeClass(3, wanted);
  for (int i = 0; i < 2; ++i) {
    std::ranges::fill(label, uint8_t{255});
    EXPECT_THROW(cached.read(3, memory, label), DataError);
    EXPECT_EQ(label, wanted);
  }
  EXPECT_EQ(files->reads(3), 2);
  EXPECT_EQ(cached.kept().samples, 0);
}

/// What a cache keeps that four threads fill at the same time. Adds the readings that were wrong.
KeptSamples keptByThreads(int64_t mostBytes, std::atomic<int>& wrong) {
  const CachedDataset cached(std::make_shared<CountedFiles>(), mostBytes);
  {
    std::latch all(4);
    std::vector<std::jthread> team;
    for (int i = 0; i < 4; ++i) {
      team.emplace_back([&] {
        all.arrive_and_wait();
        for (int epoch = 0; epoch < 2; ++epoch) wrong += readsAll(cached) ? 0 : 1;
      });
    }
  }
  return cached.kept();
}

TEST(CachedDataset, IsReadByManyThreads) {
  for (const int64_t most : {int64_t{1} << 20, 20 * bytesOfImage}) {
    const CachedDataset alone(std::make_shared<CountedFiles>(), most);
    readsAll(alone);
    std::atomic<int> wrong{0};
    for (int round = 0; round < 50; ++round) {
      const KeptSamples kept = keptByThreads(most, wrong);
      EXPECT_LE(kept.bytes, most);
      EXPECT_LE(kept.samples, alone.kept().samples);
      EXPECT_GT(kept.samples, 10);
      EXPECT_TRUE(kept == alone.kept() || most < images * bytesOfImage) << "each is counted once";
    }
    EXPECT_EQ(wrong, 0);
  }
}

TEST(CacheUse, IsThatOfTheLastCacheWithEachNumber) {
  CacheUse use;
  use.set(0, {1, 10}), use.set(1, {2, 20}), use.set(0, {3, 30});
  EXPECT_EQ(use.sum(), (KeptSamples{5, 50}));
}

}  // namespace
}  // namespace tandem
