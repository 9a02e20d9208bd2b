#include "formats/weights/npy.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <iterator>

#include "base/error.h"

namespace tandem {
namespace {

TEST(Npy, HeaderIsThatOfNumpy) {
  // numpy.save of zeros((2, 3), float32), version 1.0.
  const std::string header = npyHeader(2, 3);
  EXPECT_EQ(header.size(), 128U);
  EXPECT_EQ(header.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(header.substr(10, 59), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");
  EXPECT_EQ(header.back(), '\n');
  for (const int64_t rows : {1, 1000, 123456789}) EXPECT_EQ(npyHeader(rows, 1024).size() % 64, 0U);
}

TEST(Npy, WritesValuesBehindTheHeader) {
  const std::string path = testing::TempDir() + "/tandem_npy_test.npy";
  writeNpy(path, std::array<float, 2>{1.5F, -2}, 1, 2);
  std::ifstream file(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_EQ(content, npyHeader(1, 2) + std::string("\x00\x00\xC0\x3F\x00\x00\x00\xC0", 8));
  EXPECT_THROW(writeNpy("/no/such/folder/x.npy", std::array<float, 1>{1}, 1, 1), StorageError);
  EXPECT_THROW(writeNpy(path, std::array<float, 1>{1}, 1, 2), InternalError);
}

}  // namespace
}  // namespace tandem
