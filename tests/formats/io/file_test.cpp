#include "formats/io/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>

namespace tandem {
namespace {

class FileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/tandem_file_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << content;
    return folder_ + "/" + name;
  }

  std::string folder_;
};

void expectRefused(const std::function<void()>& action, const std::string& path, const std::string& part) {
  try {
    action();
    ADD_FAILURE() << "not refused: " << part;
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
  }
}

TEST_F(FileTest, ReadsWholeAndHead) {
  const std::string path = write("a", "hello");
  const std::vector<uint8_t> hello{'h', 'e', 'l', 'l', 'o'};
  EXPECT_EQ(readFile(path, 5), hello);
  EXPECT_EQ(readFileHead(path, 2), (std::vector<uint8_t>{'h', 'e'}));
  EXPECT_EQ(readFileHead(path, 99), hello);
  EXPECT_TRUE(readFile(write("empty", ""), 5).empty());
}

TEST_F(FileTest, RefusesWhatIsNoReadableFile) {
  const std::string missing = folder_ + "/missing";
  expectRefused([&] { readFile(missing, 5); }, missing, "No such file or directory (errno 2)");
  expectRefused([&] { readFile(folder_, 5); }, folder_, "a folder");
  const std::string fifo = folder_ + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  expectRefused([&] { readFile(fifo, 5); }, fifo, "special file");
}

TEST_F(FileTest, RefusesMoreThanTheLimit) {
  const std::string path = write("a", "hello");
  expectRefused([&] { readFile(path, 4); }, path, "is 5 bytes; the limit is 4 bytes");
  std::filesystem::resize_file(path, uint64_t{1} << 40);
  expectRefused([&] { readFile(path, 1 << 20); }, path, "the limit is 1048576");
}

TEST(ValueOrThrow, NamesFileOffsetAndReason) {
  EXPECT_EQ(valueOrThrow(Result<int>(7), "/x"), 7);
  expectRefused([] { valueOrThrow(Result<int>(parseError(12, "label ", 10)), "/x/y.bin"); },
                "/x/y.bin: byte 12: label 10", "label 10");
}

}  // namespace
}  // namespace tandem
