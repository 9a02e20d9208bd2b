#include "data/dataset/opened_dataset.h"
#include "support/golden_dataset.h"

namespace tandem {
namespace {

TEST(CifarFiles, ReadsBatchesInOrderWithoutTheTestBatch) {
  const TestFolder folder;
  folder.write("data_batch_2.bin", cifarBytes({3, 4}));
  folder.write("data_batch_1.bin", cifarBytes({9}));
  folder.write("test_batch.bin", cifarBytes({5}));
  folder.write("batches.meta.txt", {'a'});
  const auto dataset = openDataset(folder.path());
  ASSERT_EQ(dataset->size(), 3);
  EXPECT_EQ(dataset->info().name, "cifar10");
  EXPECT_EQ(dataset->info().classes, 10);
  EXPECT_EQ(dataset->info().channels, 3);
  EXPECT_EQ(labelOf(*dataset, 0), 9);
  EXPECT_EQ(labelOf(*dataset, 2), 4);
  const Bytes image = imageOf(*dataset, 2);
  ASSERT_EQ(image.size(), 3072U);
  EXPECT_EQ(image[0], 11);
  EXPECT_EQ(image[1], 12);
  EXPECT_EQ(image[3071], 13);
}

TEST(CifarFiles, AreFoundInTheirSubfolderAndUnderOtherNames) {
  const TestFolder nested, renamed;
  nested.write("cifar-10-batches-bin/data_batch_1.bin", cifarBytes({1, 2}));
  EXPECT_EQ(openDataset(nested.path())->size(), 2);
  renamed.write("train.bin", cifarBytes({1, 2, 3}));
  renamed.write("test.bin", cifarBytes({1}));
  EXPECT_EQ(openDataset(renamed.path())->size(), 3);
}

TEST(CifarFiles, RefusesDamagedRecords) {
  const TestFolder folder;
  const std::string first = folder.path() + "/data_batch_1.bin";
  Bytes bytes = cifarBytes({1, 2, 3});
  bytes.pop_back();
  folder.write("data_batch_1.bin", bytes);
  expectRefused(folder.path(), {first + ": byte 0", "9218 bytes", "3073", "truncated"});
  folder.write("data_batch_1.bin", {});
  expectRefused(folder.path(), {first, "empty"});
  folder.write("data_batch_1.bin", cifarBytes({1, 10}));
  expectRefused(folder.path(), {first + ": byte 3073", "label 10 of image 1", "0 to 9"});
}

TEST(CifarFiles, ReadsThePythonVersionAsTheBinaryOne) {
  const TestFolder pickles, binary, nested, hundred;
  const Bytes ten = goldenDataset("cifar10.python2");
  pickles.write("data_batch_1", ten), pickles.write("data_batch_2", goldenDataset("cifar10.numpy2.protocol5"));
  pickles.write("test_batch", ten), pickles.write("batches.meta", {0x80, 2, 'N', '.'});
  Bytes records;
  for (const uint8_t label : Bytes{6, 9, 6, 9}) {
    records.push_back(label);
    for (int p = 0; p < 3072; ++p) records.push_back(static_cast<uint8_t>((label == 9 ? 31 : 0) + 7 * p));
  }
  binary.write("data_batch_1.bin", records);
  const auto read = openDataset(pickles.path()), same = openDataset(binary.path());
  ASSERT_EQ(read->size(), 4);
  EXPECT_EQ(read->info().name, same->info().name);
  EXPECT_EQ(read->info().normalization.mean, same->info().normalization.mean);
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(imageOf(*read, i), imageOf(*same, i)) << i;
    EXPECT_EQ(labelOf(*read, i), labelOf(*same, i)) << i;
  }
  EXPECT_EQ(openDataset(pickles.path(), {.split = DataSplit::test})->size(), 2);
  expectProbedAsOpened(pickles.path());
  nested.write("cifar-10-batches-py/data_batch_1", ten);
  EXPECT_EQ(openDataset(nested.path())->size(), 2);
  hundred.write("train", goldenDataset("cifar100.python2")), hundred.write("test", goldenDataset("cifar100.python2"));
  hundred.write("meta", {0x80, 2, 'N', '.'});
  EXPECT_EQ(labelOf(*openDataset(hundred.path()), 0), 99);
  EXPECT_EQ(openDataset(hundred.path(), {.split = DataSplit::test})->info().name, "cifar100");
}

TEST(CifarFiles, PrefersTheBinaryVersion) {
  const TestFolder beside, nested;
  for (const std::string folder : {"", "cifar-10-batches-py/"}) {
    (folder.empty() ? beside : nested).write(folder + "data_batch_1", goldenDataset("cifar10.python2"));
  }
  beside.write("data_batch_1.bin", cifarBytes({3}));
  nested.write("cifar-10-batches-bin/data_batch_1.bin", cifarBytes({3}));
  EXPECT_EQ(openDataset(beside.path())->size(), 1);
  EXPECT_EQ(openDataset(nested.path())->size(), 1);
}

TEST(CifarFiles, RefusesADamagedPickle) {
  const TestFolder folder, mixed;
  Bytes bytes = goldenDataset("cifar10.python2");
  bytes.resize(3000);
  folder.write("data_batch_1", bytes);
  expectRefused(folder.path(),
                {folder.path() + "/data_batch_1: byte 139: BINSTRING of the pickle reads beyond its end"});
  mixed.write("data_batch_1", goldenDataset("cifar10.python2"));
  mixed.write("data_batch_2", goldenDataset("cifar100.python2"));
  expectRefused(mixed.path(), {"data_batch_2: holds CIFAR-100, the files before it CIFAR-10"});
}

TEST(CifarFiles, ReadsCifar100) {
  const TestFolder folder, mixed;
  Bytes training, test;
  for (const uint8_t value : Bytes{7, 9, 3}) {
    training.push_back(2), training.insert(training.end(), 3073, value);
  }
  test.push_back(2), test.insert(test.end(), 3073, 5);
  folder.write("cifar-100-binary/train.bin", training), folder.write("cifar-100-binary/test.bin", test);
  const auto images = openDataset(folder.path());
  EXPECT_EQ(images->info().name, "cifar100");
  EXPECT_EQ(images->info().classes, 100);
  ASSERT_EQ(images->size(), 3);
  EXPECT_EQ(openDataset(folder.path(), {.split = DataSplit::test})->size(), 1);
  expectProbedAsOpened(folder.path());
  mixed.write("data_batch_1.bin", cifarBytes({1})), mixed.write("data_batch_2.bin", test);
  expectRefused(mixed.path(), {"data_batch_2.bin: holds CIFAR-100, the files before it CIFAR-10"});
}

}  // namespace
}  // namespace tandem
