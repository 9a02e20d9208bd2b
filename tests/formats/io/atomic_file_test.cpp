#include "formats/io/atomic_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>

#include "base/error.h"
#include "formats/io/file.h"

namespace tandem {
namespace {

const std::vector<uint8_t> hello{'h', 'e', 'l', 'l', 'o'};

class NewFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/tandem_new_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = folder_ + "/file";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  size_t filesThere() const {
    const std::filesystem::directory_iterator begin(folder_);
    return static_cast<size_t>(std::distance(begin, std::filesystem::directory_iterator()));
  }

  std::string folder_, path_;
};

TEST_F(NewFileTest, AppearsWhole) {
  std::ofstream(path_) << "old";
  AtomicFile file(path_);
  file.append(hello);
  EXPECT_EQ(readFile(path_, 100).size(), 3U);
  file.append(hello);
  file.commit();
  EXPECT_EQ(readFile(path_, 100).size(), 10U);
  EXPECT_EQ(filesThere(), 1U);
}

TEST_F(NewFileTest, HasTheUsualPermissions) {
  const mode_t mask = umask(027);
  AtomicFile file(path_);
  file.commit();
  umask(mask);
  struct stat facts {};
  ASSERT_EQ(stat(path_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0640U);
}

TEST_F(NewFileTest, LeavesNothingWithoutCommit) {
  std::ofstream(path_) << "old";
  { AtomicFile(path_).append(hello); }
  EXPECT_EQ(readFile(path_, 100).size(), 3U);
  EXPECT_EQ(filesThere(), 1U);
}

TEST_F(NewFileTest, NamesWhatCannotBeWritten) {
  const std::string missing = folder_ + "/no/such";
  try {
    AtomicFile file(missing);
    ADD_FAILURE();
  } catch (const StorageError& error) {
    EXPECT_NE(std::string(error.what()).find(missing), std::string::npos) << error.what();
  }
  EXPECT_THROW(AtomicFile{folder_}, StorageError);
}

TEST_F(NewFileTest, HasNamesAsLongAsTheFolderAllows) {
  const std::string longest = folder_ + '/' + std::string(255, 'n');
  std::ofstream(longest) << "old";
  requireReplaceable(longest);
  AtomicFile file(longest);
  file.append(hello);
  file.commit();
  EXPECT_EQ(readFile(longest, 100).size(), 5U);
  EXPECT_EQ(filesThere(), 1U);
  EXPECT_THROW(requireReplaceable(longest + 'n'), StorageError);
}

TEST_F(NewFileTest, IsRefusedWhereItsFolderLetsOnlyOwnersReplaceFiles) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make a file of another user";
  constexpr uid_t owner = 64321, other = 64322;
  std::ofstream(path_) << "old";
  ASSERT_EQ(chmod(folder_.c_str(), 01777), 0);
  ASSERT_EQ(chown(path_.c_str(), owner, owner), 0);
  requireReplaceable(path_);
  ASSERT_EQ(seteuid(other), 0);
  EXPECT_THROW(requireReplaceable(path_), StorageError);
  EXPECT_EQ(seteuid(0), 0);
  ASSERT_EQ(seteuid(owner), 0);
  EXPECT_NO_THROW(requireReplaceable(path_));
  EXPECT_EQ(seteuid(0), 0);
}

TEST_F(NewFileTest, IsWrittenWhereFoldersCannotBeRead) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can take the rights of another user";
  ASSERT_EQ(chmod(folder_.c_str(), 0333), 0);
  ASSERT_EQ(seteuid(64321), 0);
  EXPECT_NO_THROW({
    AtomicFile file(path_);
    file.append(hello);
    file.commit();
  });
  EXPECT_EQ(seteuid(0), 0);
  EXPECT_EQ(filesThere(), 1U);
}

TEST_F(NewFileTest, RemovesWhatHasATemporaryName) {
  const int folder = open(folder_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  std::vector<std::unique_ptr<TemporaryName>> names;
  for (int i = 0; i < 3; ++i) {
    names.push_back(std::make_unique<TemporaryName>(folder));
    std::ofstream(folder_ + '/' + names.back()->text()) << "part";
  }
  std::ofstream(path_) << "whole";
  names.pop_back();
  EXPECT_EQ(filesThere(), 3U) << "a name that is gone has no file";
  removeTemporaryFiles();
  EXPECT_EQ(filesThere(), 1U) << "what an interrupted process does";
  names.clear();
  close(folder);
}

TEST_F(NewFileTest, ReplacesFilesAlone) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THROW(AtomicFile{path_}, StorageError);
  EXPECT_THROW(AtomicFile{"/dev/null"}, StorageError);
}

TEST_F(NewFileTest, HasNoNameUntilItIsWhole) {
  AtomicFile file(path_);
  file.append(hello);
  EXPECT_EQ(filesThere(), 0U) << "a killed process would leave it";
  file.commit();
  EXPECT_EQ(filesThere(), 1U);
}

TEST_F(NewFileTest, IsRefusedWhereItDoesNotFit) {
  requireReplaceable(path_, 1);
  EXPECT_THROW(requireReplaceable(path_, int64_t{1} << 60), StorageError);
  EXPECT_EQ(filesThere(), 0U);
}

TEST_F(NewFileTest, AFileTooLargeKeepsTheOldOne) {
  std::ofstream(path_) << "old";
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit usual{};
  getrlimit(RLIMIT_FSIZE, &usual);
  const rlimit small{4, usual.rlim_max};
  {
    AtomicFile file(path_);
    setrlimit(RLIMIT_FSIZE, &small);
    EXPECT_THROW(file.append(hello), StorageError);
    setrlimit(RLIMIT_FSIZE, &usual);
  }
  std::signal(SIGXFSZ, before);
  EXPECT_EQ(readFile(path_, 100).size(), 3U);
  EXPECT_EQ(filesThere(), 1U);
}

TEST_F(NewFileTest, AFolderThatCannotBeWrittenIsAStorageError) {
  std::ofstream(path_) << "a file";
  EXPECT_THROW(makeFolder(path_ + "/below"), StorageError);
  EXPECT_THROW(makeFolder("/proc/self/none"), StorageError);
  const std::string made = folder_ + "/a/b";
  makeFolder(made);
  EXPECT_TRUE(std::filesystem::is_empty(made)) << "the look leaves nothing";
}

}  // namespace
}  // namespace tandem
