#include "data/dataset/data_split.h"

#include <set>

#include "data/dataset/dataset.h"
#include "data/dataset/test_folder.h"
#include "formats/dataset/packed_shard.h"
#include "support/example_records.h"
#include "support/golden_dataset.h"
#include "support/tar_writer.h"
#include "support/text_of_failure.h"

namespace tandem {
namespace {

using Split = std::optional<DataSplit>;
constexpr DataSplit training = DataSplit::training, validation = DataSplit::validation, test = DataSplit::test;

Bytes goldenImage() { return readFile(concat(testsFolder(), "/golden/images/rgb.png"), 1 << 20); }
std::string textOf(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }
Bytes bytesOf(const std::string& text) { return {text.begin(), text.end()}; }

void putClass(const TestFolder& folder, const std::string& word, int files) {
  const std::string path = word.empty() ? "cat/" : word + "/cat/";
  for (int i = 0; i < files; ++i) folder.write(concat(path, i, ".png"), goldenImage());
}

void putTable(const TestFolder& folder, const std::string& word, int files) {
  std::string rows = "file,label\n";
  for (int i = 0; i < files; ++i) {
    rows += concat(word, i, ".png,0\n");
    folder.write(concat(word, i, ".png"), goldenImage());
  }
  folder.write((word.empty() ? "labels" : word) + ".csv", bytesOf(rows));
}

template <void (*put)(const TestFolder& folder, const std::string& name)>
void putShards(const TestFolder& folder, const std::string& word, int files) {
  for (int i = 0; i < files; ++i) put(folder, concat(word, "-0000", i));
}

void putRecord(const TestFolder& folder, const std::string& name) {
  folder.write(name + ".tfrecord", bytesOf(tfrecordOf(records::imageNetExample(textOf(goldenImage()), 1))));
}

void putTar(const TestFolder& folder, const std::string& name) {
  folder.write(name + ".tar", tarOf({{"a.png", textOf(goldenImage())}, {"a.cls", "1"}}));
}

void putLmdb(const TestFolder& folder, const std::string& name) {
  folder.write(name + ".lmdb", goldenDataset("datapoints.lmdb.gz"));
}

void putPixels(const TestFolder& folder, const std::string& name) {
  PackedShardWriter writer(concat(folder.path(), '/', name, ".tandem"));
  writer.add(Bytes(12), Bytes(8));
  writer.commit({.labels = "class", .labelBytes = 8, .classes = 3, .height = 2, .width = 2, .channels = 3});
}

/// A way to lay out splits, and the images that a file then has.
struct Layout {
  const char* name;
  void (*put)(const TestFolder& folder, const std::string& word, int files);  ///< empty word: without splits
  int64_t images = 1;

  friend std::ostream& operator<<(std::ostream& out, const Layout& layout) { return out << layout.name; }
};

class SplitsOf : public testing::TestWithParam<Layout> {
 protected:
  void put(const std::string& word, int files) const { GetParam().put(folder, word, files); }

  /// What is opened has so many files, and is of the split.
  void expectGiven(DataSplit asked, int files, Split given) const {
    SCOPED_TRACE(rowOf(asked).name);
    const auto images = openDataset(folder.path(), {.split = asked});
    const DatasetFacts facts = probeDataset(folder.path(), asked);
    EXPECT_EQ(images->size(), files * GetParam().images);
    EXPECT_EQ(facts.images, images->size());
    EXPECT_EQ(images->info().split, given);
    EXPECT_EQ(facts.info.split, given);
    EXPECT_EQ(facts.info.classes, images->info().classes);
  }

  void expectMissing(DataSplit asked) const {
    const auto text = textOfFailure<MissingSplit>([&] { openDataset(folder.path(), {.split = asked}); });
    EXPECT_NE(text.find(concat(rowOf(asked).name, " images")), std::string::npos) << text;
  }

  TestFolder folder;
};

TEST_P(SplitsOf, AreThree) {
  put("train", 1), put("val", 2), put("test", 3);
  expectGiven(training, 1, training), expectGiven(validation, 2, validation), expectGiven(test, 3, test);
}

TEST_P(SplitsOf, AreFoundByEachWord) {
  put("training", 1), put("validation", 2), put("test", 3);
  expectGiven(training, 1, training), expectGiven(validation, 2, validation), expectGiven(test, 3, test);
}

TEST_P(SplitsOf, StandInForEachOther) {
  put("train", 1), put("val", 2);
  expectGiven(training, 1, training), expectGiven(validation, 2, validation), expectGiven(test, 2, validation);
}

TEST_P(SplitsOf, StandInForEachOtherTheOtherWay) {
  put("train", 1), put("test", 3);
  expectGiven(training, 1, training), expectGiven(validation, 3, test), expectGiven(test, 3, test);
}

TEST_P(SplitsOf, MayBeMissing) {
  put("train", 1);
  expectGiven(training, 1, training), expectMissing(validation), expectMissing(test);
}

TEST_P(SplitsOf, MayBeNone) {
  put("", 2);
  for (const DataSplitEntry& row : dataSplits()) expectGiven(row.split, 2, std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Layouts, SplitsOf,
                         testing::Values(Layout{"Folders", putClass}, Layout{"Tables", putTable},
                                         Layout{"Records", putShards<putRecord>}, Layout{"Tars", putShards<putTar>},
                                         Layout{"Lmdbs", putShards<putLmdb>, 6},
                                         Layout{"Packed", putShards<putPixels>}),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(Splits, OfCifarAndIdxAreTwo) {
  const TestFolder cifar, idx;
  cifar.write("data_batch_1.bin", cifarBytes({3, 4})), cifar.write("test_batch.bin", cifarBytes({5}));
  idx.write("train-images-idx3-ubyte", idxImages(2)), idx.write("train-labels-idx1-ubyte", idxLabels({0, 6}));
  idx.write("t10k-images-idx3-ubyte", idxImages(1)), idx.write("t10k-labels-idx1-ubyte", idxLabels({1}));
  for (const TestFolder* folder : {&cifar, &idx}) {
    for (const DataSplitEntry& row : dataSplits()) {
      const auto images = openDataset(folder->path(), {.split = row.split});
      const DatasetFacts facts = probeDataset(folder->path(), row.split);
      EXPECT_EQ(images->size(), row.split == training ? 2 : 1);
      EXPECT_EQ(images->info().split, row.split == training ? training : test);
      EXPECT_EQ(facts.images, images->size());
      EXPECT_EQ(facts.info.split, images->info().split);
      EXPECT_EQ(facts.info.classes, folder == &idx ? 7 : 10) << "those of the training images";
    }
  }
}

TEST(Splits, OfTrainingImagesAloneAreRefused) {
  const TestFolder folder;
  folder.write("data_batch_1.bin", cifarBytes({3, 4}));
  for (const DataSplit asked : {validation, test}) {
    EXPECT_NE(
        textOfFailure<MissingSplit>([&] { probeDataset(folder.path(), asked); }).find("holds only training images"),
        std::string::npos);
  }
  const TestFolder shards;
  putTar(shards, "train-0");
  EXPECT_NE(textOfFailure<MissingSplit>([&] {
              probeDataset(shards.path(), validation);
            }).find("name those of validation images by val or validation or test"),
            std::string::npos);
}

TEST(Splits, OfFoldersAndTablesMayLackTrainingImages) {
  for (const auto put : {putClass, putTable}) {
    for (const DataSplitEntry& row : dataSplits()) {
      if (row.split == training) continue;
      const TestFolder folder;
      put(folder, std::string(row.recognised.back()), 2);
      for (const DataSplit asked : {validation, test}) {
        const auto images = openDataset(folder.path(), {.split = asked});
        EXPECT_EQ(images->info().split, row.split);
        EXPECT_EQ(images->size(), 2);
        EXPECT_EQ(images->info().classes, 1);
      }
      EXPECT_NE(textOfFailure<MissingSplit>([&] { openDataset(folder.path()); }).find("training images; "),
                std::string::npos);
    }
  }
}

TEST(Splits, OfPatientsStandInForEachOtherWhereTheyAreFew) {
  const TestFolder folder;
  folder.write("1.png", goldenImage()), folder.write("2.png", goldenImage());
  folder.write("Data_Entry_2017.csv",
               bytesOf("Image Index,Finding Labels,Patient ID\n1.png,No Finding,1\n2.png,Hernia,2\n"));
  for (const DataSplit asked : {validation, test}) {
    EXPECT_EQ(probeDataset(folder.path(), asked).info.split, test);
    EXPECT_EQ(probeDataset(folder.path(), asked).images, 1);
  }
}

TEST(Splits, AreTheRowsOfACatalog) {
  std::set<std::string_view> words;
  for (const DataSplitEntry& row : dataSplits()) {
    EXPECT_EQ(&rowOf(row.split), &row);
    EXPECT_EQ(rowOf(row.standIn).standIn, row.split) << row.name;
    EXPECT_EQ(row.written, row.recognised.front());
    for (const std::string_view word : row.recognised) EXPECT_TRUE(words.insert(word).second) << word;
  }
  EXPECT_EQ(standInText(test, test), "");
  EXPECT_EQ(standInText(test, validation), "it has no test images; these are its validation images");
  EXPECT_EQ(standInText(validation, std::nullopt), "it has no splits; these are all its images");
}

}  // namespace
}  // namespace tandem
