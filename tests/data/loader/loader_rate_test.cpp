#include "data/loader/loader_rate.h"

#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "base/error.h"
#include "base/mutex.h"
#include "formats/image/encode.h"

namespace tandem {
namespace {

/// Image files, of which it counts how often each is read.
class CountedFiles final : public Dataset {
 public:
  CountedFiles(int64_t size, int64_t bad = -1) : size_(size), bad_(bad) {
    info_.name = "counted", info_.classes = 1;
    file_ = imageEncodings().front().encode({24, 32, std::vector<uint8_t>(24 * 32 * 3, uint8_t{90})});
  }
  const DatasetInfo& info() const override { return info_; }
  int64_t size() const override { return size_; }
  Sample read(int64_t index, std::vector<uint8_t>&, std::span<uint8_t> label) const override {
    storeClass(0, label);
    const MutexLock lock(mutex_);
    ++reads_[index];
    if (index == bad_) throw DataError("damaged");
    return {.bytes = file_};
  }
  /// How many images were read so often.
  std::map<int64_t, int64_t> byCount() const {
    const MutexLock lock(mutex_);
    std::map<int64_t, int64_t> counts;
    for (const auto& [index, reads] : reads_) ++counts[reads];
    return counts;
  }

 private:
  int64_t size_, bad_;
  DatasetInfo info_;
  std::vector<uint8_t> file_;
  mutable Mutex mutex_;
  mutable std::map<int64_t, int64_t> reads_ TANDEM_GUARDED_BY(mutex_);
};

std::shared_ptr<const BatchMaker> makerOf(const std::shared_ptr<const Dataset>& files) {
  const auto augment = std::make_shared<const Augmentation>(augmentationOf("resize:16+center_crop:16"));
  return std::make_shared<const BatchMaker>(
      files, BatchPlan{.globalBatch = 4, .count = 4, .height = 16, .width = 16, .seed = 3, .augment = augment});
}

TEST(LoaderMeter, GoesThroughTheDataAsTrainingDoes) {
  const auto files = std::make_shared<const CountedFiles>(32);
  LoaderMeter meter(makerOf(files), std::nullopt);
  meter.measure(1, Nanos(0));
  EXPECT_EQ(files->byCount(), (std::map<int64_t, int64_t>{{1, 8}})) << "a few at least";
  meter.measure(3, Nanos(0));
  EXPECT_EQ(files->byCount(), (std::map<int64_t, int64_t>{{1, 32}})) << "the rest of the epoch";
  meter.measure(4, Nanos(0));
  EXPECT_EQ(files->byCount(), (std::map<int64_t, int64_t>{{2, 32}})) << "another epoch";
}

TEST(LoaderMeter, PartsOfAnImageAddUp) {
  const auto maker = makerOf(std::make_shared<const CountedFiles>(32));
  const LoaderRate there = LoaderMeter(maker, std::nullopt).measure(1, Nanos(0));
  EXPECT_GT(there.read, 0);
  EXPECT_GT(there.decode, 0);
  EXPECT_GT(there.transform(), 0);
  EXPECT_EQ(there.normalize, 0) << "a GPU does it";
  EXPECT_NEAR(there.imagesPerSecond * there.image, 1, 1e-9);
  const LoaderRate here = LoaderMeter(maker, InputForm{}).measure(2, Nanos(0));
  EXPECT_GT(here.normalize, 0);
  EXPECT_GT(here.transform(), 0);
}

TEST(LoaderMeter, AnImageThatCannotBeReadEndsIt) {
  LoaderMeter meter(makerOf(std::make_shared<const CountedFiles>(8, /*bad=*/5)), std::nullopt);
  EXPECT_THROW(meter.measure(2, Nanos(0)), DataError);
}

}  // namespace
}  // namespace tandem
