#include <cmath>
#include <map>
#include <set>
#include <stdexcept>

#include "base/catalog.h"
#include "data/dataset/dataset.h"
#include "data/dataset/memory_dataset.h"
#include "data/dataset/opened_dataset.h"

namespace tandem {
namespace {

constexpr const char* fashionMnist = "/usr/share/datasets/fashion-mnist";

/// The bytes of a label, to be a key of maps.
std::string labelKey(const Dataset& dataset, int64_t index) {
  const Bytes label = at(dataset, index).label;
  return {label.begin(), label.end()};
}

DatasetInfo colour(int64_t height, int64_t width, int64_t classes) {
  DatasetInfo info;
  info.height = height, info.width = width, info.classes = classes;
  return info;
}

TEST(OpenDataset, ReadsAnIdxPairPlainOrGzip) {
  for (const bool packed : {false, true}) {
    const TestFolder folder;
    folder.write("t10k-images-idx3-ubyte", idxImages(1));
    folder.write("t10k-labels-idx1-ubyte", idxLabels({0}));
    if (packed) {
      folder.writeGzip("train-images-idx3-ubyte.gz", idxImages(3));
      folder.writeGzip("train-labels-idx1-ubyte.gz", idxLabels({0, 6, 2}));
    } else {
      folder.write("train-images-idx3-ubyte", idxImages(3));
      folder.write("train-labels-idx1-ubyte", idxLabels({0, 6, 2}));
    }
    const auto dataset = openDataset(folder.path());
    ASSERT_EQ(dataset->size(), 3);
    EXPECT_EQ(dataset->info().name, "idx");
    EXPECT_EQ(dataset->info().classes, 7);
    EXPECT_EQ(dataset->info().channels, 1);
    EXPECT_EQ(dataset->info().height, 2);
    EXPECT_EQ(dataset->info().width, 3);
    EXPECT_EQ(labelOf(*dataset, 1), 6);
    EXPECT_EQ(imageOf(*dataset, 1), (Bytes{6, 7, 8, 9, 10, 11}));
  }
}

Normalization normalizationOf(const std::string& folder, DataSplit split) {
  return openDataset(folder, {.split = split})->info().normalization;
}

TEST(OpenDataset, TestImagesAreNormalisedAsTheTrainingImages) {
  const TestFolder cifar, idx;
  cifar.write("data_batch_1.bin", cifarBytes({3, 4}));
  cifar.write("test_batch.bin", cifarBytes({5}));
  const auto tests = openDataset(cifar.path(), {.split = DataSplit::test});
  ASSERT_EQ(tests->size(), 1);
  EXPECT_EQ(labelOf(*tests, 0), 5);
  idx.write("train-images-idx3-ubyte", idxImages(3));
  idx.write("train-labels-idx1-ubyte", idxLabels({0, 6, 2}));
  idx.write("t10k-images-idx3-ubyte", idxImages(2));
  idx.write("t10k-labels-idx1-ubyte", idxLabels({1, 1}));
  const auto pair = openDataset(idx.path(), {.split = DataSplit::test});
  EXPECT_EQ(pair->size(), 2);
  EXPECT_EQ(pair->info().classes, 7) << "of the training labels";
  EXPECT_EQ(normalizationOf(idx.path(), DataSplit::test).mean, normalizationOf(idx.path(), DataSplit::training).mean);
  const TestFolder alone;
  alone.write("train-images-idx3-ubyte", idxImages(2));
  alone.write("train-labels-idx1-ubyte", idxLabels({1, 1}));
  EXPECT_NE(normalizationOf(alone.path(), DataSplit::training).mean[0], pair->info().normalization.mean[0])
      << "of the test images alone it would be another";
}

void expectTestImagesRefused(const std::string& folder, std::string_view part) {
  try {
    openDataset(folder, {.split = DataSplit::test});
    ADD_FAILURE() << folder;
  } catch (const DataError& error) {
    EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos) << error.what();
  }
}

TEST(OpenDataset, TestImagesThatDoNotBelongToTheTrainingImagesAreRefused) {
  const TestFolder training, tests, others;
  training.write("data_batch_1.bin", cifarBytes({3, 4}));
  expectTestImagesRefused(training.path(),
                          "holds only training images (data_batch_1.bin); put there CIFAR-10's test_b");
  tests.write("test_batch.bin", cifarBytes({3, 4}));
  expectTestImagesRefused(tests.path(), "holds only test images (test_batch.bin); put there CIFAR-10's data_batch_1");
  others.write("train-images-idx3-ubyte", idxImages(2));
  others.write("train-labels-idx1-ubyte", idxLabels({0, 1}));
  others.write("t10k-images-idx3-ubyte", idxImages(1));
  others.write("t10k-labels-idx1-ubyte", idxLabels({6}));
  expectTestImagesRefused(others.path(),
                          "test images are 2 x 3 x 1 with 7 classes (one class per image), training images 2 x 3 x 1 "
                          "with 2 classes (one class per image); both must be of one data set");
}

TEST(OpenDataset, TellsIdxFilesApartByContent) {
  const TestFolder folder;
  folder.write("a", idxLabels({0, 0}));
  folder.write("b", idxImages(2));
  folder.write("readme", {'h', 'i'});
  const auto dataset = openDataset(folder.path());
  EXPECT_EQ(dataset->size(), 2);
  EXPECT_EQ(dataset->info().classes, 2);
}

TEST(ProbeDataset, TellsWithoutPixelsWhatOpeningFinds) {
  const TestFolder cifar, plain, packed;
  cifar.write("data_batch_1.bin", cifarBytes({9}));
  cifar.write("data_batch_2.bin", cifarBytes({3, 4}));
  plain.write("train-images-idx3-ubyte", idxImages(3));
  plain.write("train-labels-idx1-ubyte", idxLabels({0, 6, 2}));
  packed.writeGzip("train-images-idx3-ubyte.gz", idxImages(3));
  packed.writeGzip("train-labels-idx1-ubyte.gz", idxLabels({0, 6, 2}));
  for (const TestFolder* folder : {&cifar, &plain, &packed}) expectProbedAsOpened(folder->path());
}

TEST(ProbeDataset, RefusesAFileThatIsTooShort) {
  const TestFolder cifar, idx;
  cifar.write("data_batch_1.bin", Bytes(3000));
  EXPECT_THROW(probeDataset(cifar.path()), DataError);
  Bytes images = idxImages(3);
  images.pop_back();
  idx.write("train-images-idx3-ubyte", images);
  idx.write("train-labels-idx1-ubyte", idxLabels({0, 6, 2}));
  EXPECT_THROW(probeDataset(idx.path()), DataError);
}

TEST(OpenDataset, TakesAFileAndItsGzipAsOne) {
  const TestFolder folder;
  folder.write("train-images-idx3-ubyte", idxImages(2));
  folder.writeGzip("train-images-idx3-ubyte.gz", idxImages(2));
  folder.write("train-labels-idx1-ubyte", idxLabels({0, 1}));
  EXPECT_EQ(openDataset(folder.path())->size(), 2);
  folder.write("other-train-images-idx3-ubyte", idxImages(2));
  expectRefused(folder.path(), {"several IDX files", "other-train-images-idx3-ubyte", "keep one pair"});
}

TEST(OpenDataset, RefusesFoldersWithoutADataSet) {
  const TestFolder folder;
  expectRefused(folder.path() + "/missing",
                {"/missing", "does not exist", "data_batch_1.bin", "train-images-idx3-ubyte"});
  expectRefused(folder.path(), {folder.path(), "is empty"});
  folder.write("notes.txt", {'h', 'i'});
  expectRefused(folder.path(), {"no data set that is known", "data_batch_1.bin", "train-images-idx3-ubyte"});
  expectRefused(folder.path() + "/notes.txt", {"notes.txt", "is a file", "folder"});
  folder.writeGzip("cifar-10-binary.tar.gz", Bytes(600, 'x'));
  expectRefused(folder.path(), {"cifar-10-binary.tar.gz", "unpack"});
}

TEST(OpenDataset, RefusesTestImagesAlone) {
  const TestFolder cifar, idx;
  cifar.write("test_batch.bin", cifarBytes({1}));
  expectRefused(cifar.path(), {"only test images (test_batch.bin)"});
  idx.write("t10k-images-idx3-ubyte", idxImages(1));
  idx.write("t10k-labels-idx1-ubyte", idxLabels({1}));
  expectRefused(idx.path(), {"only test images (t10k-images-idx3-ubyte)"});
}

TEST(OpenDataset, RefusesDamagedIdx) {
  const TestFolder folder;
  const std::string images = folder.path() + "/train-images-idx3-ubyte";
  folder.write("train-labels-idx1-ubyte", idxLabels({0, 1}));
  expectRefused(folder.path(), {"train-labels-idx1-ubyte", "no IDX file of training images"});
  Bytes bytes = idxImages(2);
  bytes.pop_back();
  folder.write("train-images-idx3-ubyte", bytes);
  expectRefused(folder.path(), {images + ": byte 27", "describes 28 bytes but there are 27", "truncated"});
  folder.write("train-images-idx3-ubyte", {});
  expectRefused(folder.path(), {images, "0 bytes"});
  folder.write("train-images-idx3-ubyte", idxImages(3));
  expectRefused(folder.path(), {"3 images", "2 labels", images, "train-labels-idx1-ubyte"});
  folder.write("train-images-idx3-ubyte", idxLabels({1}));
  expectRefused(folder.path(), {images, "1 dimensions", "images have 3"});
}

TEST(OpenDataset, RefusesATruncatedGzip) {
  const TestFolder folder;
  folder.write("train-labels-idx1-ubyte", idxLabels({0, 1}));
  const std::string images = folder.path() + "/train-images-idx3-ubyte.gz";
  folder.writeGzip("train-images-idx3-ubyte.gz", idxImages(2));
  std::filesystem::resize_file(images, std::filesystem::file_size(images) - 1);
  expectRefused(folder.path(), {images, "truncated"});
}

TEST(OpenDataset, MeasuresTheNormalization) {
  const TestFolder folder;
  folder.write("images", idxBytes({2, 1, 2}, {10, 10, 30, 30}));
  folder.write("labels", idxLabels({0, 1}));
  const auto dataset = openDataset(folder.path());
  for (int c = 0; c < 3; ++c) {
    EXPECT_FLOAT_EQ(dataset->info().normalization.mean[c], 20);
    EXPECT_FLOAT_EQ(dataset->info().normalization.deviation[c], 10);
  }
  const Normalization rgb = measureNormalization(Bytes{1, 7, 0, 3, 7, 100}, 3);
  EXPECT_EQ(rgb.mean, (std::array<float, 3>{2, 7, 50}));
  EXPECT_EQ(rgb.deviation, (std::array<float, 3>{1, 1, 50}));
}

TEST(OpenDataset, ReadsFashionMnist) {
  if (!std::filesystem::exists(fashionMnist)) GTEST_SKIP() << "Debian's dataset-fashion-mnist is not installed";
  const auto dataset = openDataset(fashionMnist);
  EXPECT_EQ(dataset->size(), 60000);
  EXPECT_EQ(dataset->info().classes, 10);
  EXPECT_EQ(dataset->info().height, 28);
  EXPECT_EQ(dataset->info().width, 28);
  EXPECT_EQ(dataset->info().channels, 1);
  // Known of the training set: 0.2860 and 0.3530 of 255, 6000 images of each class.
  EXPECT_NEAR(dataset->info().normalization.mean[2], 0.2860 * 255, 0.02);
  EXPECT_NEAR(dataset->info().normalization.deviation[0], 0.3530 * 255, 0.02);
  std::vector<int64_t> images(10);
  for (int64_t i = 0; i < dataset->size(); ++i) ++images.at(labelOf(*dataset, i));
  EXPECT_EQ(images, std::vector<int64_t>(10, 6000));
}

TEST(SyntheticDataset, IsAFunctionOfSeedAndIndex) {
  const auto a = syntheticDataset(100, colour(5, 7, 10), 1), b = syntheticDataset(100, colour(5, 7, 10), 1);
  const auto other = syntheticDataset(100, colour(5, 7, 10), 2);
  EXPECT_EQ(imageOf(*a, 3), imageOf(*b, 3));
  EXPECT_EQ(labelOf(*a, 3), labelOf(*b, 3));
  EXPECT_NE(imageOf(*a, 3), imageOf(*a, 4));
  EXPECT_NE(imageOf(*a, 3), imageOf(*other, 3));
  EXPECT_EQ(a->info().name, "synthetic");
}

TEST(SyntheticDataset, BytesAndLabelsAreUniform) {
  const auto dataset = syntheticDataset(2000, colour(16, 16, 4), 1);
  std::vector<int64_t> labels(4);
  Bytes all;
  for (int64_t i = 0; i < dataset->size(); ++i) {
    const Bytes bytes = imageOf(*dataset, i);
    all.insert(all.end(), bytes.begin(), bytes.end());
    ++labels.at(labelOf(*dataset, i));
  }
  const Normalization measured = measureNormalization(all, 3);
  for (int c = 0; c < 3; ++c) {
    EXPECT_NEAR(measured.mean[c], dataset->info().normalization.mean[c], 0.5);
    EXPECT_NEAR(measured.deviation[c], dataset->info().normalization.deviation[c], 0.5);
  }
  for (const int64_t count : labels) EXPECT_NEAR(count, 500, 100);
}

TEST(SyntheticDataset, EveryKindOfLabelsFillsItsBytesByItsOwnNumbers) {
  for (const LabelKind& kind : labelKinds()) {
    DatasetInfo info = colour(2, 2, 9);
    info.labels = &kind;
    const auto dataset = syntheticDataset(50, info, 1), same = syntheticDataset(50, info, 1);
    std::set<std::string> different;
    for (int64_t i = 0; i < dataset->size(); ++i) {
      different.insert(labelKey(*dataset, i));
      EXPECT_EQ(labelKey(*dataset, i), labelKey(*same, i)) << kind.name;
    }
    EXPECT_GT(different.size(), 5U) << kind.name;
  }
}

TEST(SyntheticDataset, FlagsAreIndependentFairCoins) {
  DatasetInfo info = colour(2, 2, 3);
  info.labels = &find(labelKinds(), "flags", "labels");
  const auto dataset = syntheticDataset(4000, info, 1);
  std::map<std::string, int64_t> counts;
  for (int64_t i = 0; i < dataset->size(); ++i) ++counts[labelKey(*dataset, i)];
  ASSERT_EQ(counts.size(), 8U);
  for (const auto& [flags, count] : counts) EXPECT_NEAR(count, 500, 100);
}

}  // namespace
}  // namespace tandem
