#include "formats/archive/zip.h"

#include <gtest/gtest.h>

#include "support/zip_writer.h"

namespace tandem {
namespace {

std::string contentOf(const ZipEntry& entry) {
  return {reinterpret_cast<const char*>(entry.data.data()), entry.data.size()};
}

void expectRefused(const std::string& zip, const std::string& part, const ZipLimits& limits = {}) {
  const auto result = parseZip(bytesOf(zip), limits);
  ASSERT_FALSE(result.ok()) << part;
  EXPECT_NE(result.error().text.find(part), std::string::npos) << result.error().text;
}

std::vector<ZipPart> twoParts() {
  return {{.name = "a/one", .data = "first"}, {.name = "a/two", .data = std::string(300, 'x')}};
}

TEST(Zip, ReadsStoredEntries) {
  for (const bool zip64 : {false, true}) {
    for (const uint16_t flags : {0, 8}) {
      auto parts = twoParts();
      parts.push_back({.name = "a/empty", .data = ""});
      for (auto& part : parts) {
        part.flags = flags;
        part.zip64 = zip64;
      }
      const auto bytes = bytesOf(zipOf(parts, {.zip64 = zip64}));
      const auto result = parseZip(bytes);
      ASSERT_TRUE(result.ok()) << result.error().text;
      ASSERT_EQ(result.value().size(), 3U);
      for (size_t i = 0; i < parts.size(); ++i) {
        EXPECT_EQ(result.value()[i].name, parts[i].name);
        EXPECT_EQ(contentOf(result.value()[i]), parts[i].data);
        EXPECT_EQ(bytes.data() + result.value()[i].offset, result.value()[i].data.data());
      }
    }
  }
}

TEST(Zip, RefusesEveryTruncationAndExtension) {
  for (const bool zip64 : {false, true}) {
    const std::string zip = zipOf(twoParts(), {.zip64 = zip64});
    for (size_t size = 0; size < zip.size(); ++size) EXPECT_FALSE(parseZip(bytesOf(zip.substr(0, size))).ok()) << size;
    EXPECT_FALSE(parseZip(bytesOf(zip + 'x')).ok());
    EXPECT_FALSE(parseZip(bytesOf('x' + zip)).ok());
  }
  expectRefused(zipOf(twoParts(), {.comment = "hello"}), "end record without comment");
}

TEST(Zip, RefusesWhatIsNotStored) {
  expectRefused(zipOf({{.name = "a/b", .data = "xx", .method = 8}}), "is compressed; torch.save stores entries");
  expectRefused(zipOf({{.name = "a/b", .data = "xx", .method = 12}}), "packed by method 12");
  expectRefused(zipOf({{.name = "a/b", .data = "xx", .flags = 1}}), "is encrypted");
  expectRefused(zipOf({{.name = "a/b", .data = "xx", .flags = 0x20}}), "has flags 32");
  std::string folder = zipOf({{.name = "a/b", .data = "xx"}});
  folder[folder.find("PK\x01\x02") + 38] = 0x10;
  expectRefused(folder, "is a folder");
}

TEST(Zip, RefusesADeflateBombUnread) {
  ZipPart bomb{.name = "a/data.pkl", .data = std::string(100, '\0'), .method = 8, .zip64 = true};
  bomb.size = uint64_t{1} << 40;
  expectRefused(zipOf({bomb}), "is compressed");
}

TEST(Zip, RefusesEntriesOutsideTheFile) {
  expectRefused(zipOf({{.name = "a/b", .data = "xx", .size = 1000}}), "reaches beyond the data");
  expectRefused(zipOf({{.name = "a/b", .data = "xx", .size = UINT64_MAX, .zip64 = true}}), "reaches beyond the data");
  expectRefused(zipOf({{.name = "a/b", .data = "xx", .local = 7}}), "has no header at 7");
  expectRefused(zipOf({{.name = "a/b", .data = "xx", .local = UINT64_MAX - 4, .zip64 = true}}), "has no header at");
}

TEST(Zip, RefusesContradictions) {
  expectRefused(zipOf({{.name = "a/b", .data = "xx", .checksum = 1}}), "wrong checksum");
  expectRefused(zipOf({{.name = "a/b", .data = "xx", .localName = "a/c"}}), "contradicts the directory");
  expectRefused(zipOf({{.name = "a/b", .data = "xx", .size = 1}}), "contradicts the directory");
  expectRefused(zipOf({{.name = "a/b", .data = "xx", .flags = 8, .size = 1}}), "descriptor of zip entry");
}

TEST(Zip, RefusesRepeatedAndOverlappingEntries) {
  expectRefused(zipOf({{.name = "a/b", .data = "x"}, {.name = "a/b", .data = "y"}}), "'a/b' is there twice");
  // Both names lead to the first entry's header, so the second contradicts it; equal names are found before.
  const std::string inner = zipOf({{.name = "a/c", .data = "zz"}});
  const std::string header = inner.substr(0, inner.find("PK\x01\x02"));
  const uint64_t inside = 30 + 3;  // where the data of a/b begins
  expectRefused(zipOf({{.name = "a/b", .data = header}, {.name = "a/c", .data = "zz", .local = inside}}), "overlap");
}

TEST(Zip, RefusesNamesThatLeaveTheArchive) {
  for (const std::string name : {"", "/a", "../a", "a/../b", "a/..", "a\\b", "a\xFF"}) {
    expectRefused(zipOf({{.name = name, .data = "x"}}), "leaves the archive");
  }
  expectRefused(zipOf({{.name = std::string("a\0b", 3), .data = "x"}}), "'a\\x00b'");
}

TEST(Zip, RefusesSeveralDisksAndWrongCounts) {
  const std::string zip = zipOf(twoParts());
  const size_t end = zip.size() - 22;
  const auto changed = [&](size_t at, char value) {
    std::string other = zip;
    other[at] = value;
    return other;
  };
  expectRefused(changed(end + 4, 1), "several disks");
  expectRefused(changed(end + 10, 1), "bytes follow the last entry");
  expectRefused(changed(end + 10, 3), "entry 2 of the zip directory is missing");
  expectRefused(changed(end + 12, 1), "does not end where its end record stands");
  const std::string large = zipOf(twoParts(), {.zip64 = true});
  std::string other = large;
  other[large.size() - 22 - 20 + 8] ^= 1;
  expectRefused(other, "does not point to the zip64 end record");
  other = large;
  other[large.size() - 22 + 10] = 5;
  other[large.size() - 22 + 11] = 0;
  expectRefused(other, "contradict each other");
}

TEST(Zip, LimitsAreTheCallers) {
  expectRefused(zipOf(twoParts()), "has 2 entries; the limit is 1", {.entries = 1});
  EXPECT_TRUE(parseZip(bytesOf(zipOf(twoParts())), {.entries = 2}).ok());
}

TEST(Zip, RecognisesAHead) {
  EXPECT_TRUE(isZip(bytesOf(zipOf(twoParts()))));
  EXPECT_FALSE(isZip(bytesOf("PK\x03")));
  EXPECT_FALSE(isZip(bytesOf("PK\x05\x06")));
}

}  // namespace
}  // namespace tandem
