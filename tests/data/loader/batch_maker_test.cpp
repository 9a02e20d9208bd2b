#include "data/loader/batch_maker.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <set>
#include <thread>

#include "base/catalog.h"
#include "data/transform/augment.h"

namespace tandem {
namespace {

// Image i is filled with i + 1 in its first channel and counts up in the others; its label is i.
class NumberedDataset final : public Dataset {
 public:
  NumberedDataset(int64_t size, int64_t edge, int64_t channels) : size_(size) {
    info_ = {
        .name = "numbered", .height = edge, .width = edge, .channels = channels, .classes = size, .normalization = {}};
  }
  const DatasetInfo& info() const override { return info_; }
  int64_t size() const override { return size_; }
  Sample read(int64_t index, std::vector<uint8_t>& memory, std::span<uint8_t> label) const override {
    memory.resize(static_cast<size_t>(info_.height * info_.width * info_.channels));
    for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<uint8_t>(i % 3 == 0 ? index + 1 : i);
    storeClass(index, label);
    return {.bytes = memory, .height = info_.height, .width = info_.width, .channels = info_.channels};
  }

 private:
  DatasetInfo info_;
  int64_t size_;
};

/// `size` synthetic images of ten classes.
std::shared_ptr<const Dataset> synthetic(int64_t size, int64_t edge, const LabelKind& labels = labelKinds().front()) {
  DatasetInfo info;
  info.height = info.width = edge, info.classes = 10;
  info.labels = &labels;
  return syntheticDataset(size, info, 1);
}

std::shared_ptr<const Augmentation> augment(std::string_view text) {
  return std::make_shared<const Augmentation>(augmentationOf(text));
}

BatchPlan planOf(int64_t globalBatch, int64_t first, int64_t count, int64_t edge = 4) {
  return {.globalBatch = globalBatch,
          .first = first,
          .count = count,
          .height = edge,
          .width = edge,
          .seed = 3,
          .shuffle = true,
          .augment = nullptr,
          .badImages = nullptr};
}

std::vector<int64_t> labelsOf(const HostBatch& batch) {
  const int64_t* data = batch.labels.const_data_ptr<int64_t>();
  return {data, data + batch.labels.numel()};
}

class Replicas : public ::testing::TestWithParam<std::tuple<int64_t, int64_t>> {};

TEST_P(Replicas, CoverEachImageOncePerEpoch) {
  const auto [replicas, size] = GetParam();
  const auto dataset = std::make_shared<NumberedDataset>(size, 4, 3);
  const int64_t perReplica = 5, global = replicas * perReplica;
  std::vector<std::unique_ptr<BatchMaker>> makers;
  for (int64_t r = 0; r < replicas; ++r) {
    makers.push_back(std::make_unique<BatchMaker>(dataset, planOf(global, r * perReplica, perReplica)));
  }
  std::vector<int64_t> sequence;
  for (int64_t k = 0; std::ssize(sequence) < 3 * size; ++k) {
    for (const auto& maker : makers) {
      for (const int64_t label : labelsOf(maker->make(k))) sequence.push_back(label);
    }
  }
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    const std::set<int64_t> seen(sequence.begin() + epoch * size, sequence.begin() + (epoch + 1) * size);
    EXPECT_EQ(std::ssize(seen), size) << "epoch " << epoch;
  }
  EXPECT_NE(std::vector(sequence.begin(), sequence.begin() + size),
            std::vector(sequence.begin() + size, sequence.begin() + 2 * size));
}

INSTANTIATE_TEST_SUITE_P(BatchMaker, Replicas,
                         ::testing::Combine(::testing::Values(1, 2, 3, 4), ::testing::Values(7, 40, 101)));

TEST(BatchMaker, GlobalBatchIsTheSameForAnyNumberOfReplicas) {
  const auto dataset = synthetic(50, 8);
  BatchPlan whole = planOf(24, 0, 24, 8);
  whole.augment = augment("standard");
  const BatchMaker reference(dataset, whole);
  for (const int64_t replicas : {1, 2, 3, 4}) {
    for (int64_t k = 0; k < 5; ++k) {
      std::vector<at::Tensor> images, labels;
      for (int64_t r = 0; r < replicas; ++r) {
        BatchPlan part = whole;
        part.count = 24 / replicas;
        part.first = r * part.count;
        const HostBatch batch = BatchMaker(dataset, part).make(k);
        images.push_back(batch.images);
        labels.push_back(batch.labels);
      }
      const HostBatch expected = reference.make(k);
      EXPECT_TRUE(at::equal(at::cat(images), expected.images)) << replicas << " replicas, batch " << k;
      EXPECT_TRUE(at::equal(at::cat(labels), expected.labels)) << replicas << " replicas, batch " << k;
    }
  }
}

TEST(BatchMaker, EveryKindOfLabelsStandsBesideItsImage) {
  for (const LabelKind& kind : labelKinds()) {
    const auto dataset = synthetic(20, 8, kind);
    const BatchMaker maker(dataset, planOf(12, 3, 6, 8));
    const HostBatch batch = maker.make(2);
    std::vector<int64_t> shape = kind.shape(10);
    shape.insert(shape.begin(), 6);
    ASSERT_EQ(batch.labels.sizes(), at::IntArrayRef(shape)) << kind.name;
    ASSERT_EQ(batch.labels.scalar_type(), kind.type) << kind.name;
    std::vector<uint8_t> image(8 * 8 * 3), label(labelBytes(kind, 10));
    for (int64_t i = 0; i < 6; ++i) {
      dataset->read(maker.at(2 * 12 + 3 + i).first, image, label);
      const at::Tensor row = batch.labels[i].contiguous();
      ASSERT_EQ(row.nbytes(), label.size()) << kind.name;
      EXPECT_EQ(std::memcmp(row.const_data_ptr(), label.data(), label.size()), 0) << kind.name << ", image " << i;
    }
  }
}

/// Every image has the same label.
class LabelledDataset final : public Dataset {
 public:
  LabelledDataset(const LabelKind& kind, std::vector<uint8_t> label) : label_(std::move(label)) {
    info_ = {.name = "labelled", .height = 4, .width = 4, .channels = 3, .classes = 3, .normalization = {}};
    info_.labels = &kind;
  }
  const DatasetInfo& info() const override { return info_; }
  int64_t size() const override { return 1; }
  Sample read(int64_t, std::vector<uint8_t>& memory, std::span<uint8_t> label) const override {
    std::ranges::copy(label_, label.begin());
    memory.resize(48);
    return {.bytes = memory, .height = 4, .width = 4, .channels = 3};
  }

 private:
  DatasetInfo info_;
  std::vector<uint8_t> label_;
};

template <class Value>
std::vector<uint8_t> bytesOf(const std::vector<Value>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(Value));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// What is refused; empty: nothing.
std::string refusal(std::string_view kind, std::vector<uint8_t> label) {
  label.resize(labelBytes(find(labelKinds(), kind, "labels"), 3));
  const auto dataset = std::make_shared<LabelledDataset>(find(labelKinds(), kind, "labels"), label);
  try {
    BatchMaker(dataset, planOf(1, 0, 1)).make(0);
  } catch (const DataError& error) {
    return error.what();
  }
  return {};
}

TEST(BatchMaker, ALabelThatIsNoneOfTheDataSetsIsADataError) {
  EXPECT_EQ(refusal("class", bytesOf<int64_t>({2})), "");
  EXPECT_EQ(
      refusal("class", bytesOf<int64_t>({3})),
      "image 0 (from 0) of data set 'labelled': its label is 3, of 3 classes it must be from 0 to 2; check the data");
  EXPECT_NE(refusal("class", bytesOf<int64_t>({-1})), "");
  EXPECT_EQ(refusal("flags", {1, 0, 1}), "");
  EXPECT_NE(refusal("flags", {1, 0, 2}).find("its label of class 2 is 2, it must be 0 or 1"), std::string::npos);
  EXPECT_EQ(refusal("boxes", bytesOf<float>({2, 0.1F, 0.1F, 0.2F, 0.3F})), "");
  EXPECT_NE(refusal("boxes", bytesOf<float>({3, 0.1F, 0.1F, 0.2F, 0.3F})).find("its box 0 is of class 3"),
            std::string::npos);
  EXPECT_NE(refusal("boxes", bytesOf<float>({1, 0.2F, 0.1F, 0.2F, 0.3F})), "") << "of no width";
}

TEST(BatchMaker, OrderDependsOnSeedAndEpochAndCanBeOff) {
  const auto dataset = std::make_shared<NumberedDataset>(60, 4, 3);
  BatchPlan plan = planOf(60, 0, 60);
  const auto first = labelsOf(BatchMaker(dataset, plan).make(0));
  EXPECT_EQ(labelsOf(BatchMaker(dataset, plan).make(0)), first);
  plan.seed = 4;
  EXPECT_NE(labelsOf(BatchMaker(dataset, plan).make(0)), first);
  plan.shuffle = false;
  std::vector<int64_t> ascending(60);
  std::iota(ascending.begin(), ascending.end(), 0);
  EXPECT_EQ(labelsOf(BatchMaker(dataset, plan).make(1)), ascending);
}

TEST(BatchMaker, PositionsAreIndependentOfTheOrderOfAsking) {
  const auto dataset = std::make_shared<NumberedDataset>(10, 4, 3);
  const BatchMaker forward(dataset, planOf(1, 0, 1)), backward(dataset, planOf(1, 0, 1));
  std::vector<std::pair<int64_t, int64_t>> up, down;
  for (int64_t p = 0; p < 200; ++p) up.push_back(forward.at(p));
  for (int64_t p = 199; p >= 0; --p) down.push_back(backward.at(p));
  std::reverse(down.begin(), down.end());
  EXPECT_EQ(up, down);
  EXPECT_EQ(up[57].second, 5);
}

TEST(BatchMaker, MakesTheSameFromManyThreads) {
  const auto dataset = std::make_shared<NumberedDataset>(33, 4, 3);
  const BatchMaker maker(dataset, planOf(8, 0, 8));
  std::vector<std::vector<int64_t>> expected, made(64);
  for (int64_t k = 0; k < 64; ++k) expected.push_back(labelsOf(BatchMaker(dataset, planOf(8, 0, 8)).make(k)));
  std::vector<std::jthread> threads;
  for (int64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int64_t k = t; k < 64; k += 4) made[k] = labelsOf(maker.make(k));
    });
  }
  threads.clear();
  EXPECT_EQ(made, expected);
}

TEST(BatchMaker, CentresAndRepeatsGreyImages) {
  const auto dataset = std::make_shared<NumberedDataset>(1, 2, 1);  // bytes 1 1 2 1
  const HostBatch batch = BatchMaker(dataset, planOf(1, 0, 1, 4)).make(0);
  const at::Tensor image = batch.images[0];  // [4, 4, 3]
  EXPECT_EQ(image.sizes(), (at::IntArrayRef{4, 4, 3}));
  for (int c = 0; c < 3; ++c) {
    EXPECT_EQ(image[1][1][c].item<int>(), 1);
    EXPECT_EQ(image[1][2][c].item<int>(), 1);
    EXPECT_EQ(image[2][1][c].item<int>(), 2);
    EXPECT_EQ(image[2][2][c].item<int>(), 1);
  }
  EXPECT_EQ(image.sum().item<int64_t>(), 3 * 5);
}

TEST(BatchMaker, RefusesImagesLargerThanTheInput) {
  const auto dataset = std::make_shared<NumberedDataset>(1, 32, 3);
  try {
    const BatchMaker maker(dataset, planOf(1, 0, 1, 28));
    ADD_FAILURE() << "not refused";
  } catch (const UsageError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("images are 32x32 pixels but pad takes none larger than 28x28"), std::string::npos) << text;
    EXPECT_NE(text.find("--image-size"), std::string::npos) << text;
  }
}

/// What of a black image of this size the chain sees, and whether it is mirrored.
std::pair<ImageWindow, bool> seen(std::string_view chain, const ImageSize& size, uint64_t key) {
  const std::vector<uint8_t> pixels(static_cast<size_t>(size.height * size.width * size.channels));
  WorkingImage image(pixels, size);
  ImageDraw draw{.random = CounterRandom(key)};
  augmentationOf(chain).chain.apply(image, {.input = {32, 32, 3}, .draw = draw});
  return {image.window(), image.mirrored()};
}

/// Makes an epoch of 8 images in each batch, in their order.
BatchMaker makerOfEpochs(const char* chain, uint64_t seed) {
  BatchPlan plan = planOf(8, 0, 8, 16);
  plan.augment = augment(chain), plan.shuffle = false, plan.seed = seed;
  return {synthetic(8, 16), plan};
}

TEST(Augment, IsAFunctionOfSeedEpochAndImage) {
  const BatchMaker maker = makerOfEpochs("standard", 1);
  const at::Tensor here = maker.make(2).images;
  EXPECT_TRUE(at::equal(here, makerOfEpochs("standard", 1).make(2).images));
  EXPECT_FALSE(at::equal(here, maker.make(3).images)) << "another epoch";
  EXPECT_FALSE(at::equal(here, makerOfEpochs("standard", 2).make(2).images)) << "another seed";
}

TEST(Augment, MayBeAFunctionOfSeedAndImageAlone) {
  const BatchMaker maker = makerOfEpochs("alternating_flip", 1);
  const at::Tensor first = maker.make(0).images;
  EXPECT_TRUE(at::equal(first, maker.make(2).images)) << "two epochs later";
  EXPECT_TRUE(at::equal(first.flip(2), maker.make(1).images)) << "an epoch later";
  EXPECT_FALSE(at::equal(first, makerOfEpochs("alternating_flip", 2).make(0).images)) << "another seed";
}

TEST(Augment, ReachesEveryCropAndBothSidesEquallyOften) {
  std::map<int64_t, int> tops, lefts;
  int flips = 0;
  for (uint64_t key = 0; key < 9000; ++key) {
    const auto [window, mirrored] = seen("standard", {32, 32, 3}, mixBits(key));
    ++tops[window.top];
    ++lefts[window.left];
    flips += mirrored ? 1 : 0;
  }
  for (const auto& counts : {tops, lefts}) {
    ASSERT_EQ(counts.size(), 9U);
    EXPECT_EQ(counts.begin()->first, -4);
    for (const auto& [offset, count] : counts) EXPECT_NEAR(count, 1000, 150) << offset;
  }
  EXPECT_NEAR(flips, 4500, 300);
}

TEST(Augment, RowsOfSmallImagesDoWhatTheySay) {
  for (const auto& [name, moves, flips] :
       {std::tuple("standard", true, true), std::tuple("crop", true, false), std::tuple("none", false, false)}) {
    bool moved = false, flipped = false;
    for (uint64_t key = 0; key < 200; ++key) {
      const auto [window, mirrored] = seen(name, {28, 28, 1}, mixBits(key));
      moved |= window.top != -2 || window.left != -2;
      flipped |= mirrored;
    }
    EXPECT_EQ(moved, moves) << name;
    EXPECT_EQ(flipped, flips) << name;
  }
}

TEST(Augment, EveryRowTakesImagesOfItsKind) {
  for (const AugmentEntry& row : augments()) {
    const Augmentation found = augmentationOf(row.name);
    EXPECT_EQ(found.text, row.name);
    EXPECT_EQ(found.chain.fault({28, 28, 1}, {32, 32, 3}), "") << row.name;
  }
  for (const bool encoded : {false, true}) {
    const ImageSize images = encoded ? ImageSize() : ImageSize{32, 32, 3};
    EXPECT_EQ(augmentationOf(usualAugment(encoded)).chain.fault(images, {32, 32, 3}), "");
  }
}

TEST(Augment, MovesFromEpochToEpoch) {
  const auto dataset = synthetic(1, 16);
  BatchPlan plan = planOf(1, 0, 1, 16);
  plan.augment = augment("standard");
  const BatchMaker maker(dataset, plan);
  EXPECT_TRUE(at::equal(maker.make(3).images, BatchMaker(dataset, plan).make(3).images));
  EXPECT_FALSE(at::equal(maker.make(3).images, maker.make(4).images));
}

}  // namespace
}  // namespace tandem
