#include "data/loader/batch_source.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "base/catalog.h"
#include "data/loader/batch_maker.h"

namespace tandem {
namespace {

DatasetInfo small() {
  DatasetInfo info;
  info.height = info.width = 8, info.classes = 10;
  return info;
}

// Synthetic images until `fails`, an index at which reading breaks.
class BreakingDataset final : public Dataset {
 public:
  explicit BreakingDataset(int64_t fails) : images_(syntheticDataset(64, small(), 1)), fails_(fails) {}
  const DatasetInfo& info() const override { return images_->info(); }
  int64_t size() const override { return images_->size(); }
  Sample read(int64_t index, std::vector<uint8_t>& memory, std::span<uint8_t> label) const override {
    if (index == fails_) throw DataError("an image is gone");
    return images_->read(index, memory, label);
  }

 private:
  std::unique_ptr<Dataset> images_;
  int64_t fails_;
};

const SourceEntry& row(std::string_view name) { return find(sources(), name, "input"); }

class SourceTest : public ::testing::Test {
 protected:
  SourceOptions options(int64_t producers = 1, int64_t depth = 4, int64_t fails = -1) const {
    const BatchPlan plan{.globalBatch = 8,
                         .first = 2,
                         .count = 4,
                         .height = 8,
                         .width = 8,
                         .seed = 5,
                         .shuffle = false,
                         .augment = std::make_shared<const Augmentation>(augmentationOf("standard")),
                         .badImages = nullptr};
    SourceOptions options;
    options.batches = std::make_shared<BatchMaker>(std::make_shared<BreakingDataset>(fails), plan);
    options.form.device = &device_;
    options.producers = producers;
    options.queueDepth = depth;
    return options;
  }

  Device device_ = Device::cpu(0, {}, 1);
};

TEST_F(SourceTest, ChannelsOfZerosFollowTheImages) {
  for (const SourceEntry& entry : sources()) {
    SourceOptions wide = options();
    wide.form.zeroChannels = 5;
    Batch bare, padded;
    entry.make(options())->next(bare);
    entry.make(wide)->next(padded);
    ASSERT_EQ(padded.images.sizes(), (at::IntArrayRef{4, 8, 8, 8})) << entry.name;
    EXPECT_TRUE(at::equal(padded.images.narrow(1, 0, 3), bare.images)) << entry.name;
    EXPECT_TRUE(padded.images.narrow(1, 3, 5).eq(0).all().item<bool>()) << entry.name;
  }
}

TEST_F(SourceTest, EveryRowDeliversNormalisedBatches) {
  for (const SourceEntry& entry : sources()) {
    for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf}) {
      for (const auto format : {at::MemoryFormat::ChannelsLast, at::MemoryFormat::Contiguous}) {
        SourceOptions wanted = options();
        wanted.form.type = type;
        wanted.form.format = format;
        const auto source = entry.make(wanted);
        Batch batch;
        ASSERT_TRUE(source->next(batch)) << entry.name;
        EXPECT_EQ(batch.index, 0);
        EXPECT_EQ(batch.images.sizes(), (at::IntArrayRef{4, 3, 8, 8})) << entry.name;
        EXPECT_EQ(batch.images.scalar_type(), type);
        EXPECT_TRUE(batch.images.is_contiguous(format)) << entry.name;
        HostBatch host;
        wanted.batches->make(0, {}, host);
        const at::Tensor expected = normalizeReference(host.images, wanted.batches->normalization(), batch.images);
        const double rounding = type == at::kFloat ? 1e-6 : type == at::kHalf ? 0x1p-10 : 0x1p-7;
        EXPECT_TRUE(at::allclose(batch.images.to(at::kFloat), expected.to(at::kFloat), rounding, rounding))
            << entry.name;
        EXPECT_TRUE(at::equal(batch.labels, host.labels)) << entry.name;
      }
    }
  }
}

TEST_F(SourceTest, DeviceDeliversItsFirstBatchAlways) {
  const auto source = row("device").make(options());
  Batch first, later;
  source->next(first);
  for (int64_t k = 1; k < 4; ++k) {
    source->next(later);
    EXPECT_EQ(later.index, k);
    EXPECT_EQ(later.images.data_ptr(), first.images.data_ptr());
  }
}

TEST_F(SourceTest, QueueDeliversWhatHostDelivers) {
  for (const int64_t producers : {1, 3}) {
    const auto host = row("host").make(options()), queue = row("queue").make(options(producers, 2));
    Batch expected, batch;
    for (int64_t k = 0; k < 60; ++k) {
      host->next(expected);
      queue->next(batch);
      ASSERT_EQ(batch.index, k);
      ASSERT_EQ(expected.index, k);
      ASSERT_TRUE(at::equal(batch.images, expected.images)) << k;
      ASSERT_TRUE(at::equal(batch.labels, expected.labels)) << k;
    }
  }
}

TEST_F(SourceTest, ABatchOutlivesLaterBatchesAndItsSource) {
  for (const char* name : {"host", "queue"}) {
    auto source = row(name).make(options());
    Batch first, later;
    source->next(first);
    const at::Tensor images = first.images.clone(), labels = first.labels.clone();
    for (int i = 0; i < 10; ++i) source->next(later);
    source.reset();
    EXPECT_TRUE(at::equal(first.images, images)) << name;
    EXPECT_TRUE(at::equal(first.labels, labels)) << name;
    EXPECT_FALSE(at::equal(first.images, later.images)) << name;
  }
}

int64_t threadsNow() {
  const std::filesystem::directory_iterator threads("/proc/self/task");
  return std::distance(begin(threads), end(threads));
}

TEST_F(SourceTest, QueueEndsItsThreadsWhileFullOrUnused) {
  row("queue").make(options(3, 1));     // what libtorch starts once is there now
  const int64_t before = threadsNow();  // with threads of that queue that are still ending
  for (int i = 0; i < 20; ++i) {
    const auto unused = row("queue").make(options(3, 1));
    const auto used = row("queue").make(options(2, 2));
    Batch batch;
    EXPECT_TRUE(used->next(batch));
    EXPECT_GE(threadsNow(), 1 + 3 + 2);
  }
  // The kernel lists a thread for a moment after it was joined.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (threadsNow() > before && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_LE(threadsNow(), before);
}

TEST_F(SourceTest, AProducersFailureReachesNextInItsOrder) {
  // Positions 8 k + 2 .. + 5: image 35 belongs to batch 4.
  for (const int64_t producers : {1, 3}) {
    const auto source = row("queue").make(options(producers, 3, 35));
    Batch batch;
    for (int64_t k = 0; k < 4; ++k) EXPECT_TRUE(source->next(batch)) << k;
    EXPECT_THROW(source->next(batch), DataError);
    EXPECT_THROW(source->next(batch), DataError);
  }
  const auto abandoned = row("queue").make(options(2, 2, 2));
}

TEST_F(SourceTest, ProducersRunWhereTheyAreTold) {
  SourceOptions wrong = options();
  wrong.hardwareThreads = {1 << 20};
  const auto source = row("queue").make(wrong);
  Batch batch;
  EXPECT_THROW(source->next(batch), InternalError);
}

}  // namespace
}  // namespace tandem
