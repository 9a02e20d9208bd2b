#include "formats/dataset/cifar_pickle.h"

#include <gtest/gtest.h>

#include "support/golden_dataset.h"

namespace tandem {
namespace {

using Bytes = std::vector<uint8_t>;

/// As in make_datasets.py.
void expectImages(const CifarBatch& batch) {
  ASSERT_EQ(batch.count(), 2);
  for (int64_t i = 0; i < 2; ++i) {
    const auto planes = batch.planes(i);
    ASSERT_EQ(planes.size(), 3072U);
    for (size_t at = 0; at < planes.size(); ++at) ASSERT_EQ(planes[at], static_cast<uint8_t>(31 * i + 7 * at)) << at;
  }
}

void expectRefused(const Bytes& bytes, const std::string& part, std::optional<uint64_t> offset = {}) {
  const auto result = parseCifar(bytes);
  ASSERT_FALSE(result.ok()) << part;
  EXPECT_NE(result.error().text.find(part), std::string::npos) << result.error().text;
  EXPECT_EQ(result.error().offset, offset.value_or(result.error().offset)) << result.error().text;
}

uint64_t placeOf(const Bytes& bytes, std::string_view part) {
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()).find(part);
}

TEST(CifarPickle, ReadsTheFilesOfPython2AndThoseThatPython3WroteAgain) {
  std::vector<std::string> names{"cifar10.python2"};
  for (const char* version : {"1", "2"}) {
    for (const char* protocol : {"2", "3", "4", "5"}) {
      names.push_back(concat("cifar10.numpy", version, ".protocol", protocol));
    }
  }
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    Bytes bytes = goldenDataset(name);
    const auto result = parseCifar(bytes);
    ASSERT_TRUE(result.ok()) << result.error().text;
    EXPECT_EQ(result.value().layout->name, "CIFAR-10");
    EXPECT_EQ(result.value().labels, (Bytes{6, 9}));
    expectImages(result.value());
  }
}

TEST(CifarPickle, ReadsTheFineLabelsOfCifar100) {
  const Bytes bytes = goldenDataset("cifar100.python2");
  const auto result = parseCifar(bytes);
  ASSERT_TRUE(result.ok()) << result.error().text;
  EXPECT_EQ(result.value().layout->name, "CIFAR-100");
  EXPECT_EQ(result.value().labels, (Bytes{99, 0}));
  expectImages(result.value());
}

TEST(CifarPickle, RefusesLabelsBeyondTheClassesByTheirByte) {
  const Bytes ten = goldenDataset("cifar10.python2"), hundred = goldenDataset("cifar100.python2");
  expectRefused(replaced(ten, "K\x06K\x09", "K\x06K\x0A"), "label 10 of image 1; CIFAR-10 has labels 0 to 9",
                placeOf(ten, "K\x06K\x09") + 2);
  expectRefused(replaced(ten, "K\x06K\x09", "K\x06J\xFF\xFF\xFF\xFF"), "label -1 of image 1");
  expectRefused(replaced(ten, "K\x06K\x09", "K\x06N"), "label of image 1: this is None, not a whole number");
  expectRefused(replaced(ten, "K\x06K\x09", "K\x06"), "'labels' is a list of 1; it must be a list of 2");
  expectRefused(replaced(hundred, "Kc", "Kd"), "label 100 of image 0; CIFAR-100 has labels 0 to 99");
  expectRefused(replaced(hundred, "K\x13", "K\x14"), "label 20 of image 0; CIFAR-100 has coarse labels 0 to 19");
}

TEST(CifarPickle, RefusesWhatIsNoBatch) {
  const Bytes ten = goldenDataset("cifar10.python2");
  expectRefused(replaced(ten, "labels", "lapels"), "the dict has neither 'labels' (CIFAR-10) nor 'fine_labels'");
  expectRefused(replaced(ten, "data", "dada"), "the dict has no 'data'");
  using namespace std::string_view_literals;
  expectRefused(replaced(ten, "K\x02M", "K\x03M"),
                "'data': an array has the shape [3, 3072] and 6144 bytes, which do not");
  expectRefused(replaced(ten, "K\x02M\x00\x0C"sv, "K\x04M\x00\x06"sv),
                "'data' is no array of images with 3072 bytes each");
  expectRefused(replaced(ten, "u1", "i1"), "'data': an array has type '|i1'; '|u1' (uint8) is read");
  expectRefused(replaced(ten, "tb\x89T", "tb\x88T"), "'data': the array is stored in Fortran's order");
  expectRefused({0x80, 2, 'N', '.'}, "the file holds None, not a batch of CIFAR", 2);
}

TEST(CifarPickle, RefusesDamagedAndForeignPickles) {
  const Bytes ten = goldenDataset("cifar10.python2");
  for (size_t size = 2; size < ten.size(); size += size < 400 ? 1 : 97) {
    EXPECT_FALSE(parseCifar(Bytes(ten.begin(), ten.begin() + static_cast<int64_t>(size))).ok()) << size;
  }
  expectRefused(replaced(ten, "cnumpy\nndarray\n", "cposix\nsystem\n"),
                "GLOBAL names 'posix.system', which a batch of CIFAR does not need and which is never loaded; fetch",
                placeOf(ten, "cnumpy\nndarray\n"));
  expectRefused(replaced(ten, "K\x06K\x09", "K\x06I"),
                "opcode 73 of the pickle is not one that a batch of CIFAR needs");
}

}  // namespace
}  // namespace tandem
