#include "data/dataset/lmdb_dataset.h"

#include <gtest/gtest.h>

#include <cstring>

#include "data/dataset/test_folder.h"
#include "formats/image/image.h"
#include "support/golden_dataset.h"

namespace tandem {
namespace {

std::vector<int64_t> classesOf(const Dataset& dataset) {
  std::vector<int64_t> classes;
  Bytes memory, label(sizeof(int64_t));
  for (int64_t i = 0; i < dataset.size(); ++i) {
    const Sample sample = dataset.read(i, memory, label);
    EXPECT_TRUE(sample.encoded());
    EXPECT_TRUE(decodeImage(sample.bytes).ok()) << i;
    std::memcpy(&classes.emplace_back(), label.data(), sizeof(int64_t));
  }
  return classes;
}

std::string refusal(const std::string& path, DataSplit split = DataSplit::training) {
  try {
    Bytes memory, label(sizeof(int64_t));
    const auto images = openDataset(path, {.split = split});
    for (int64_t i = 0; i < images->size(); ++i) images->read(i, memory, label);
  } catch (const DataError& error) {
    return error.what();
  }
  return "read";
}

TEST(LmdbDataset, ReadsWhatTensorpackSerialises) {
  const TestFolder folder;
  folder.write("imagenet.lmdb", goldenDataset("datapoints.lmdb.gz"));
  folder.write("imagenet.lmdb-lock", Bytes(8192));
  for (const std::string& path : {folder.path(), folder.path() + "/imagenet.lmdb"}) {
    const auto images = openDataset(path, {.classes = 10});
    EXPECT_EQ(images->info().name, "lmdb");
    EXPECT_EQ(images->info().classes, 10);
    EXPECT_EQ(classesOf(*images), (std::vector<int64_t>{3, 1, 2, 5, 0, 4}));
    EXPECT_EQ(probeDataset(path).images, 6);
    EXPECT_EQ(openDataset(path, {.split = DataSplit::test})->size(), 6) << "there are no splits";
  }
  EXPECT_EQ(openDataset(folder.path())->nameOf(0), folder.path() + "/imagenet.lmdb, key '00000000' at byte 11184");
}

TEST(LmdbDataset, HasSplitsByTheNamesOfFilesOrFolders) {
  const Bytes file = goldenDataset("datapoints.lmdb.gz");
  const TestFolder files, folders, single;
  files.write("train.mdb", file), files.write("train-1.mdb", file), files.write("val.mdb", file);
  folders.write("ilsvrc12_train_lmdb/data.mdb", file), folders.write("ilsvrc12_train_lmdb/lock.mdb", Bytes(8192));
  folders.write("ilsvrc12_val_lmdb/data.mdb", file);
  single.write("data.mdb", file), single.write("lock.mdb", Bytes(8192));
  EXPECT_EQ(openDataset(files.path())->size(), 12);
  EXPECT_EQ(openDataset(files.path(), {.split = DataSplit::test})->size(), 6);
  EXPECT_EQ(openDataset(folders.path())->size(), 6);
  EXPECT_EQ(openDataset(folders.path(), {.split = DataSplit::test})->nameOf(0).find("ilsvrc12_val_lmdb/data.mdb"),
            folders.path().size() + 1);
  EXPECT_EQ(openDataset(folders.path() + "/ilsvrc12_train_lmdb")->size(), 6);
  EXPECT_EQ(openDataset(single.path())->size(), 6);
}

TEST(LmdbDataset, RefusesAFileByItsByteAndADatapointByItsKey) {
  const Bytes file = goldenDataset("datapoints.lmdb.gz");
  const TestFolder folder;
  const std::string path = folder.path() + "/train.lmdb";
  folder.write("train.lmdb", Bytes(10000));
  EXPECT_EQ(refusal(folder.path()),
            path + ": byte 0: no head of LMDB, as a little-endian machine with 64 bits writes it");
  folder.write("train.lmdb", goldenDataset("empty.lmdb.gz"));
  EXPECT_EQ(refusal(folder.path()), path + ": none of the LMDB files has a datapoint");
  folder.write("train.lmdb", Bytes(file.begin(), file.begin() + 5 * 4096));
  EXPECT_NE(refusal(folder.path()).find("truncated"), std::string::npos) << refusal(folder.path());
  folder.write("train.lmdb", replaced(file, "_frombuffer", "_frombuffex"));
  EXPECT_NE(refusal(folder.path()).find("of its value: STACK_GLOBAL names 'numpy._core.numeric._frombuffex'"),
            std::string::npos)
      << refusal(folder.path());
  EXPECT_EQ(refusal(folder.path(), DataSplit::test).find("data folder '"), 0U);
}

TEST(LmdbDataset, ADatapointThatCannotBeReadHasNoClass) {
  const TestFolder folder;
  folder.write("a.lmdb", replaced(goldenDataset("datapoints.lmdb.gz"), "_frombuffer", "_frombuffex"));
  const auto images = openDataset(folder.path());
  Bytes memory, label(sizeof(int64_t), 1);
  EXPECT_THROW(images->read(0, memory, label), DataError);
  EXPECT_EQ(label, Bytes(sizeof(int64_t), 0xFF));
  images->read(1, memory, label);
  EXPECT_EQ(label[0], 1);
}

}  // namespace
}  // namespace tandem
