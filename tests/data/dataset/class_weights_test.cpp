#include "data/dataset/class_weights.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/text.h"
#include "formats/dataset/packed_shard.h"
#include "support/example_records.h"
#include "support/tar_writer.h"
#include "support/text_of_failure.h"
#include "test_folder.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

/// Data sets whose images cannot be read: labels alone are there.
class ClassWeights : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((fs::path(tests.path()) / name).parent_path());
    std::ofstream(fs::path(tests.path()) / name, std::ios::binary) << text;
  }
  void writeTar(const std::vector<std::pair<std::string, std::string>>& files) const {
    const TarBytes bytes = tarOf(files);
    write("train.tar", {bytes.begin(), bytes.end()});
  }

  TestFolder tests;
};

std::vector<float> weightsOf(const Dataset& images, int64_t classes) {
  const at::Tensor weights = balancedClassWeights(images, classes);
  return {weights.const_data_ptr<float>(), weights.const_data_ptr<float>() + weights.numel()};
}

TEST_F(ClassWeights, OfAFolderReadNoImage) {
  for (const char* file : {"cat/1.png", "dog/1.png", "dog/2.png", "dog/3.png"}) write(file, "");
  const auto images = openDataset(tests.path());
  fs::remove_all(tests.path() + "/cat"), fs::remove_all(tests.path() + "/dog");
  EXPECT_FALSE(images->info().labelsInside);
  EXPECT_EQ(weightsOf(*images, 2), (std::vector<float>{2, 4.0F / 6})) << "N / (K n)";
  EXPECT_EQ(weightsOf(*images, 3), (std::vector<float>{2, 4.0F / 6, 1})) << "a class that the data set lacks";
}

TEST_F(ClassWeights, OfFlagsAreTheOthersOverThoseWithThem) {
  write("labels.csv", "file,red,round,square\na.png,1,0,0\nb.png,1,1,0\nc.png,1,0,0\nd.png,0,0,0\n");
  for (const char* file : {"a.png", "b.png", "c.png", "d.png"}) write(file, "");
  EXPECT_EQ(weightsOf(*openDataset(tests.path()), 3), (std::vector<float>{1.0F / 3, 3, 1})) << "(N - n) / n";
}

TEST_F(ClassWeights, OfPackedShardsReadNoSample) {
  const std::string path = tests.path() + "/train-00000-of-00001.tandem";
  PackedShardWriter writer(path);
  for (const int64_t of : {0, 1, 1}) {
    Bytes label(8);
    storeClass(of, label);
    writer.add(Bytes(12, 7), label);
  }
  writer.commit({.labels = "class", .labelBytes = 8, .classes = 2, .height = 2, .width = 2, .channels = 3});
  const auto images = openDataset(tests.path());
  fs::remove(path);
  EXPECT_EQ(weightsOf(*images, 2), (std::vector<float>{1.5, 0.75}));
}

TEST_F(ClassWeights, OfArchivesReadLabelsAlone) {
  writeTar({{"a.cls", "0"}, {"b.cls", "1"}, {"c.cls", "1"}, {"d.jpg", "no label"}, {"e.cls", "x"}});
  const auto images = openDataset(tests.path(), {.classes = 2});
  ASSERT_EQ(images->size(), 5);
  EXPECT_EQ(weightsOf(*images, 2), (std::vector<float>{1.5, 0.75})) << "images without a label do not count";
}

TEST_F(ClassWeights, ALabelBeyondTheClassesIsRefused) {
  writeTar({{"a.cls", "0"}, {"b.cls", "3"}});
  const auto images = openDataset(tests.path(), {.classes = 2});
  const std::string text = textOfFailure<DataError>([&] { balancedClassWeights(*images, 2); });
  EXPECT_NE(text.find("/train.tar, sample 1 (from 0) at byte "), std::string::npos) << text;
  EXPECT_NE(text.find("its label is 3, of 2 classes"), std::string::npos) << text;
}

TEST_F(ClassWeights, DataSetsSayWhetherLabelsLieInTheirRecords) {
  EXPECT_FALSE(syntheticDataset(1, {.name = "", .height = 2, .width = 2, .classes = 2}, 1)->info().labelsInside);
  writeTar({{"a.cls", "0"}});
  EXPECT_FALSE(probeDataset(tests.path()).info.labelsInside);
  fs::remove(tests.path() + "/train.tar");
  write("train-00000-of-00001", tfrecordOf(records::imageNetExample("", 1)));
  EXPECT_TRUE(probeDataset(tests.path()).info.labelsInside);
}

}  // namespace
}  // namespace tandem
