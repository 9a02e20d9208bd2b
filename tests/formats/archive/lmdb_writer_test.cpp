#include "formats/archive/lmdb_writer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "data/dataset/test_folder.h"
#include "formats/archive/lmdb.h"
#include "formats/io/file.h"

namespace tandem {
namespace {

/// Bytes of so many lengths that values lie in pages of the tree, on one page of their own, and on several.
Bytes valueOf(size_t number) { return Bytes(number * 37 % 9001, static_cast<uint8_t>(number)); }

std::string keyOf(size_t number) { return concat("key", 100'000 + number); }

TEST(LmdbWriter, WritesWhatIsReadAgain) {
  const TestFolder folder;
  const std::string path = folder.path() + "/a.lmdb";
  constexpr size_t count = 3000;
  LmdbWriter writer(path);
  for (size_t i = 0; i < count; ++i) writer.add(keyOf(i), valueOf(i));
  EXPECT_FALSE(std::filesystem::exists(path)) << "it is not whole yet";
  const FileSum sum = writer.commit();
  const ReadableFile file(path);
  EXPECT_EQ(sum.bytes, file.size());
  EXPECT_EQ(sum.sha256, sha256Of(readFile(path, sum.bytes)));
  const auto entries = indexLmdb(file.size(), readerOf(file));
  ASSERT_TRUE(entries.ok()) << entries.error().text;
  ASSERT_EQ(entries.value().size(), count);
  for (size_t i = 0; i < count; ++i) {
    Bytes memory;
    EXPECT_EQ(entries.value()[i].key, keyOf(i));
    const auto value = readLmdbValue(entries.value()[i], readerOf(file), memory);
    ASSERT_TRUE(value.ok()) << value.error().text;
    EXPECT_EQ(Bytes(value.value().begin(), value.value().end()), valueOf(i));
  }
}

TEST(LmdbWriter, GrowsBeyondItsFirstMap) {
  const TestFolder folder;
  const std::string path = folder.path() + "/a.lmdb";
  constexpr size_t bytes = size_t{40} << 20, count = 4;
  const Bytes value(bytes, 7);
  LmdbWriter writer(path);
  for (size_t i = 0; i < count; ++i) writer.add(keyOf(i), value);
  EXPECT_GT(writer.commit().bytes, count * bytes);
  const ReadableFile file(path);
  const auto entries = indexLmdb(file.size(), readerOf(file));
  ASSERT_TRUE(entries.ok()) << entries.error().text;
  EXPECT_EQ(entries.value().size(), count);
}

TEST(LmdbWriter, LeavesNothingWithoutCommit) {
  const TestFolder folder;
  {
    LmdbWriter writer(folder.path() + "/a.lmdb");
    writer.add("a", Bytes(100'000));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_THROW(LmdbWriter(folder.path() + "/absent/a.lmdb"), StorageError);
}

}  // namespace
}  // namespace tandem
