#include "formats/io/appended_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "formats/io/file.h"

namespace tandem {
namespace {

class AppendedFileTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove(path_); }
  void TearDown() override { std::filesystem::remove(path_); }

  const std::string path_ = testing::TempDir() + "/tandem_appended";
};

TEST_F(AppendedFileTest, GrowsAtItsEnd) {
  std::ofstream(path_) << "a";
  AppendedFile(path_, "--out").append("b");
  AppendedFile(path_, "--out").append("c");
  EXPECT_EQ(readFile(path_, 100), (std::vector<uint8_t>{'a', 'b', 'c'}));
}

TEST_F(AppendedFileTest, AFifoIsWrittenWhereSomebodyReads) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  try {
    AppendedFile file(path_, "--mllog=x");
    ADD_FAILURE();
  } catch (const StorageError& error) {
    EXPECT_TRUE(
        std::string(error.what()).starts_with("--mllog=x: cannot open it for writing: it is a FIFO that nobody"))
        << error.what();
  }
  const int reader = open(path_.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  AppendedFile(path_, "--out").append("line\n");
  std::array<char, 8> read{};
  EXPECT_EQ(::read(reader, read.data(), read.size()), 5);
  close(reader);
}

TEST_F(AppendedFileTest, NamesWhatCannotBeWritten) {
  EXPECT_THROW(AppendedFile("/no/such/file", "--out"), StorageError);
  EXPECT_THROW(AppendedFile("/dev/full", "--out").append("x"), StorageError);
}

}  // namespace
}  // namespace tandem
