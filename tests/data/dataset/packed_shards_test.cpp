#include "data/dataset/packed_shards.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/catalog.h"
#include "data/dataset/memory_dataset.h"
#include "data/dataset/test_folder.h"
#include "data/transform/normalizations.h"
#include "formats/dataset/packed_shard.h"
#include "support/text_of_failure.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

PackedFacts pixelFacts(const ChannelSums& sums, int64_t side = 2) {
  return {.labels = "class",
          .labelBytes = 8,
          .classes = 3,
          .classNames = {"cat", "dog", "owl"},
          .height = side,
          .width = side,
          .channels = 3,
          .sums = sums.sums,
          .squares = sums.squares};
}

class PackedDataset : public testing::Test {
 protected:
  /// Images of 2 x 2 pixels, the i-th of which is all `first` + i; their class is i % 3.
  std::string write(const std::string& name, uint8_t first, int64_t images) {
    const std::string path = folder.path() + "/" + name;
    PackedShardWriter writer(path);
    ChannelSums sums;
    for (int64_t i = 0; i < images; ++i) {
      const Bytes pixels(12, static_cast<uint8_t>(first + i));
      Bytes label(8);
      storeClass(i % 3, label);
      sums.add(pixels, 3);
      writer.add(pixels, label);
      all.insert(all.end(), pixels.begin(), pixels.end());
    }
    writer.commit(pixelFacts(sums));
    return path;
  }

  static void flip(const std::string& path, int64_t at) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    const auto byte = static_cast<char>(file.get() ^ 1);
    file.seekp(at);
    file.put(byte);
  }

  std::string refusal() const {
    return textOfFailure<DataError>([&] { openDataset(folder.path()); });
  }

  TestFolder folder;
  Bytes all;  // pixels that were written
};

int64_t classOf(const Dataset& dataset, int64_t index, Bytes& pixels) {
  Bytes memory, label(8);
  const Sample sample = dataset.read(index, memory, label);
  pixels.assign(sample.bytes.begin(), sample.bytes.end());
  return labelKinds().front().classesIn(label).front();
}

TEST_F(PackedDataset, IsReadInTheOrderOfItsShards) {
  write("train-00001-of-00002.tandem", 100, 2), write("train-00000-of-00002.tandem", 10, 4);
  write("val-00000-of-00001.tandem", 200, 1);
  const auto dataset = openDataset(folder.path());
  ASSERT_EQ(dataset->size(), 6);
  const DatasetInfo& info = dataset->info();
  EXPECT_EQ(info.name, "packed");
  EXPECT_EQ(info.classNames, (std::vector<std::string>{"cat", "dog", "owl"}));
  EXPECT_TRUE(info.readsFiles() && !info.encoded());
  Bytes pixels;
  EXPECT_EQ(classOf(*dataset, 2, pixels), 2);
  EXPECT_EQ(pixels, Bytes(12, 12));
  EXPECT_EQ(classOf(*dataset, 5, pixels), 1);
  EXPECT_EQ(pixels, Bytes(12, 101));
  EXPECT_EQ(openDataset(folder.path(), {.split = DataSplit::test})->size(), 1);
  const DatasetFacts facts = probeDataset(folder.path());
  EXPECT_EQ(facts.images, 6);
  EXPECT_EQ(facts.info.height, 2);
  EXPECT_EQ(facts.info.classes, 3);
  EXPECT_EQ(facts.bytes(), 0) << "nothing is kept in memory";
}

TEST_F(PackedDataset, IsNormalisedByItsTrainingImages) {
  write("train-0.tandem", 10, 4), write("train-1.tandem", 100, 2);
  const Normalization measured = measureNormalization(all, 3);
  write("val-0.tandem", 200, 1);
  for (const DataSplit split : {DataSplit::training, DataSplit::test}) {
    const auto dataset = openDataset(folder.path(), {.split = split});
    EXPECT_EQ(dataset->info().normalization.mean, measured.mean);
    EXPECT_EQ(dataset->info().normalization.deviation, measured.deviation);
  }
}

TEST_F(PackedDataset, NamesASampleThatIsDamagedAndReadsTheOthers) {
  const std::string path = write("a.tandem", 10, 3);
  flip(path, 16 + 12);
  const auto dataset = openDataset(folder.path());
  Bytes pixels, label(8, 0xFF);
  EXPECT_EQ(textOfFailure<DataError>([&] { dataset->read(1, pixels, label); }),
            path + ", sample 1 (from 0) at byte 28: its checksum differs; it is damaged, fetch the file again");
  EXPECT_EQ(labelKinds().front().classesIn(label).front(), 1) << "its label is known";
  EXPECT_EQ(classOf(*dataset, 0, pixels), 0);
  EXPECT_EQ(classOf(*dataset, 2, pixels), 2);
}

TEST_F(PackedDataset, WhoseFileShrinksIsAnError) {
  const std::string path = write("a.tandem", 10, 3);
  const auto dataset = openDataset(folder.path());
  fs::resize_file(path, 30);
  Bytes pixels, label(8);
  EXPECT_NE(textOfFailure<DataError>([&] { dataset->read(1, pixels, label); }).find("shrank while it was read"),
            std::string::npos);
}

TEST_F(PackedDataset, ThatIsDamagedElsewhereIsRefused) {
  const std::string path = write("a.tandem", 10, 3);
  const auto bytes = static_cast<int64_t>(fs::file_size(path));
  flip(path, 16 + 36);
  EXPECT_EQ(refusal(), path + ": byte 52: the checksum of the index differs; the file is damaged");
  flip(path, 16 + 36);
  EXPECT_EQ(refusal(), "");
  fs::resize_file(path, static_cast<uintmax_t>(bytes - 1));
  EXPECT_NE(refusal().find("it is truncated"), std::string::npos);
}

TEST_F(PackedDataset, HasSamplesOfOneKind) {
  const std::string first = write("a.tandem", 10, 3), second = folder.path() + "/b.tandem";
  PackedShardWriter(second).commit(pixelFacts({}, 3));
  EXPECT_EQ(refusal(), concat(second, ": its samples have another size, or other classes, than those of ", first,
                              "; keep the files of one data set"));
  PackedShardWriter(first).commit(pixelFacts({}, 3));
  EXPECT_EQ(refusal(), first + ": none of the packed shards has a sample");
}

TEST_F(PackedDataset, HasLabelsOfAKindThatIsKnown) {
  const std::string path = folder.path() + "/a.tandem";
  const auto refusalWith = [&](const std::string& labels, size_t bytes) {
    PackedShardWriter writer(path);
    writer.add(Bytes(5), Bytes(bytes));
    writer.commit({.labels = labels, .labelBytes = static_cast<int64_t>(bytes), .classes = 3});
    return refusal();
  };
  EXPECT_EQ(refusalWith("flags", 3), "");
  const auto dataset = openDataset(folder.path());
  EXPECT_EQ(dataset->info().labels->name, "flags");
  EXPECT_TRUE(dataset->info().encoded());
  EXPECT_EQ(dataset->info().normalization.mean, usualNormalization().mean);
  EXPECT_EQ(refusalWith("flags", 2), path + ": its labels have 2 bytes; those of kind 'flags' for 3 classes have 3");
  EXPECT_EQ(refusalWith("masks", 2), path + ": its labels are of the kind 'masks', which is not known");
}

/// A shard of one sample with a label of zeros.
void putShard(const std::string& path, const char* labels, int64_t labelBytes, int64_t classes, int64_t side) {
  PackedShardWriter writer(path);
  writer.add(Bytes(side == 0 ? 5 : static_cast<size_t>(3 * side * side)), Bytes(static_cast<size_t>(labelBytes)));
  writer.commit({.labels = labels,
                 .labelBytes = labelBytes,
                 .classes = classes,
                 .height = side,
                 .width = side,
                 .channels = side == 0 ? 0 : 3});
}

TEST_F(PackedDataset, OfTestImagesHasLabelsOfTheFormOfTheTrainingImages) {
  const std::string test = folder.path() + "/test-0.tandem", of1000 = "1000 classes (one class per image)";
  for (const int64_t side : {0, 2}) {
    const std::string size = side == 0 ? "image files" : "2 x 2 x 3";
    const auto refusalOf = [&](const char* labels, int64_t labelBytes, int64_t classes) {
      putShard(test, labels, labelBytes, classes, side);
      const auto text = textOfFailure<DataError>([&] { openDataset(folder.path(), {.split = DataSplit::test}); });
      EXPECT_EQ(textOfFailure<DataError>([&] { probeDataset(folder.path(), DataSplit::test); }), text);
      return text;
    };
    putShard(folder.path() + "/train-0.tandem", "class", 8, 1000, side);
    EXPECT_EQ(refusalOf("flags", 1000, 1000),
              concat(test, ": test images are ", size, " with 1000 classes (any of the classes per image), ",
                     "training images ", size, " with ", of1000, "; both must be of one data set"));
    EXPECT_NE(refusalOf("class", 8, 1001).find(concat("training images ", size, " with ", of1000)), std::string::npos);
    EXPECT_EQ(refusalOf("class", 8, 999), "");
    EXPECT_EQ(openDataset(folder.path(), {.split = DataSplit::test})->info().classes, 1000);
    putShard(folder.path() + "/train-0.tandem", "flags", 20, 20, side);
    EXPECT_NE(refusalOf("flags", 19, 19).find("with 19 classes (any of the classes per image), training images "),
              std::string::npos);
    EXPECT_EQ(refusalOf("flags", 20, 20), "");
  }
}

TEST_F(PackedDataset, WritesNoLabelIntoMemoryOfAnotherSize) {
  write("a.tandem", 10, 1);
  const auto dataset = openDataset(folder.path());
  Bytes label(7);
  EXPECT_THROW(dataset->readLabel(0, label), InternalError);
}

TEST(ChannelSums, AreThoseOfEachPixelByItself) {
  for (const int64_t channels : {1, 3}) {
    for (const size_t pixels : {1, 15, 16, 17, 1'100'000}) {
      Bytes bytes(pixels * static_cast<size_t>(channels));
      for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i % 2 == 0 ? 255 : i * i / 7);
      ChannelSums sums, wanted;
      sums.add(bytes, channels);
      for (size_t i = 0; i < bytes.size(); ++i) {
        const size_t channel = i % static_cast<size_t>(channels);
        wanted.sums[channel] += bytes[i], wanted.squares[channel] += uint64_t{bytes[i]} * bytes[i];
      }
      EXPECT_EQ(sums.sums, wanted.sums) << pixels;
      EXPECT_EQ(sums.squares, wanted.squares) << pixels;
    }
  }
}

TEST(Labels, SayWhichClassesAnImageHas) {
  const auto classesOf = [](const char* kind, const Bytes& label) {
    return find(labelKinds(), kind, "kind").classesIn(label);
  };
  EXPECT_EQ(classesOf("class", {7, 0, 0, 0, 0, 0, 0, 0}), (std::vector<int64_t>{7}));
  EXPECT_EQ(classesOf("flags", {0, 1, 0, 1}), (std::vector<int64_t>{1, 3}));
  EXPECT_TRUE(classesOf("flags", {0, 0}).empty());
  Bytes boxes(labelBytes(find(labelKinds(), "boxes", "kind"), 3));
  const float kind = 2;
  std::memcpy(boxes.data(), &kind, sizeof kind);
  EXPECT_EQ(classesOf("boxes", boxes), (std::vector<int64_t>{2}));
}

}  // namespace
}  // namespace tandem
