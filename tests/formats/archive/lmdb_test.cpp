#include "formats/archive/lmdb.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "formats/io/little_endian.h"
#include "support/golden_dataset.h"

namespace tandem {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint64_t pageBytes = 4096;

ReadAt readerOf(const Bytes& file) {
  return [&file](uint64_t offset, std::span<uint8_t> out) {
    ASSERT_LE(offset, file.size());
    ASSERT_LE(out.size(), file.size() - offset);
    std::copy_n(file.begin() + static_cast<int64_t>(offset), out.size(), out.begin());
  };
}

Result<std::vector<LmdbEntry>> indexOf(const Bytes& file, const LmdbLimits& limits = {}) {
  return indexLmdb(file.size(), readerOf(file), limits);
}

void expectRefused(const Bytes& file, uint64_t offset, const std::string& part, const LmdbLimits& limits = {}) {
  const auto entries = indexOf(file, limits);
  ASSERT_FALSE(entries.ok()) << part;
  EXPECT_NE(entries.error().text.find(part), std::string::npos) << entries.error().text;
  EXPECT_EQ(entries.error().offset, offset) << entries.error().text;
}

/// The file with a number written at a place.
template <class Word>
Bytes with(Bytes file, uint64_t at, Word word) {
  std::memcpy(file.data() + at, &word, sizeof word);
  return file;
}

uint64_t number(const Bytes& file, uint64_t at) { return littleEndian<uint64_t>(file, at); }

/// Where the head of the newest transaction stands, and the root of its tree.
uint64_t headOf(const Bytes& file) { return number(file, 144) > number(file, pageBytes + 144) ? 0 : pageBytes; }
uint64_t rootOf(const Bytes& file) { return number(file, headOf(file) + 128) * pageBytes; }
/// Where a node of a page begins, and the page that the node of a branch names.
uint64_t nodeOf(const Bytes& file, uint64_t page, uint64_t index) {
  return page + littleEndian<uint16_t>(file, page + 16 + 2 * index);
}
uint64_t childOf(const Bytes& file, uint64_t page, uint64_t index) {
  return littleEndian<uint32_t>(file, nodeOf(file, page, index)) * pageBytes;
}

Bytes tree() { return goldenDataset("tree.lmdb.gz"); }
uint64_t firstLeaf(const Bytes& file) { return childOf(file, childOf(file, rootOf(file), 0), 0); }

TEST(Lmdb, ReadsATreeOfThreeLevelsWhosePagesWereUsedAgain) {
  const Bytes file = tree();
  const auto entries = indexOf(file);
  ASSERT_TRUE(entries.ok()) << entries.error().text;
  ASSERT_EQ(entries.value().size(), 120U);
  size_t at = 0;
  for (int i = 0; i < 160; ++i) {  // as make_datasets.py writes them
    if (i % 4 == 0) continue;
    const LmdbEntry& entry = entries.value()[at++];
    char digits[8];
    std::snprintf(digits, sizeof digits, "%04d", i);
    EXPECT_EQ(entry.key, digits + std::string(400, 'k'));
    Bytes memory;
    const auto value = readLmdbValue(entry, readerOf(file), memory);
    ASSERT_TRUE(value.ok()) << value.error().text;
    const auto bytes = static_cast<size_t>(i % 10 == 1 ? 5000 + i : i);
    EXPECT_TRUE(std::ranges::equal(value.value(), Bytes(bytes, static_cast<uint8_t>(i)))) << i;
  }
}

TEST(Lmdb, AnEmptyDatabaseHasNoEntry) {
  const auto entries = indexOf(goldenDataset("empty.lmdb.gz"));
  ASSERT_TRUE(entries.ok()) << entries.error().text;
  EXPECT_TRUE(entries.value().empty());
}

TEST(Lmdb, TheNewestTransactionCountsWhicheverHeadHasIt) {
  Bytes file = tree();
  for (int swapped = 0; swapped < 2; ++swapped) {
    const auto entries = indexOf(file);
    ASSERT_TRUE(entries.ok()) << entries.error().text;
    EXPECT_EQ(entries.value()[0].bytes, 5001U) << "the value before had 39 bytes";
    std::swap_ranges(file.begin() + 16, file.begin() + 152, file.begin() + pageBytes + 16);
  }
}

TEST(Lmdb, RefusesOtherFiles) {
  const Bytes file = tree();
  expectRefused({}, 0, "the file ends within LMDB's head");
  expectRefused(Bytes(151), 0, "the file ends within LMDB's head");
  expectRefused(Bytes(5000), 0, "no head of LMDB, as a little-endian machine with 64 bits writes it");
  expectRefused(Bytes(file.begin(), file.begin() + 4100), pageBytes, "the file ends within LMDB's head");
  expectRefused(with(file, 20, uint32_t{999}), 0, "LMDB's data version is 999; 1 is read");
  expectRefused(with(file, 40, uint32_t{4097}), 0, "pages of 4097 bytes; 256 to 32768, a power of two, are read");
  expectRefused(with(file, 40, uint32_t{1} << 31), 0, "pages of 2147483648 bytes");
  expectRefused(with(file, pageBytes + 16, uint32_t{0}), pageBytes, "no head of LMDB");
  expectRefused(with(file, pageBytes + 40, uint32_t{8192}), pageBytes, "the heads differ in the size of pages");
}

TEST(Lmdb, RefusesNamedDatabasesAndSeveralValuesOfAKey) {
  const Bytes named = goldenDataset("named.lmdb.gz"), file = tree();
  expectRefused(named, rootOf(named), "the value of key 'inner' is a database or several values, which are not read");
  expectRefused(with(file, headOf(file) + 92, uint16_t{4}), headOf(file),
                "the main database has the flags 4: several values of a key");
}

TEST(Lmdb, RefusesWrongPageNumbers) {
  const Bytes file = tree();
  const uint64_t head = headOf(file), root = rootOf(file);
  expectRefused(with(file, head + 128, uint64_t{1} << 40), head,
                "page 1099511627776 of the tree lies outside the file");
  expectRefused(with(file, head + 128, uint64_t{1}), head, "page 1 of the tree lies outside the file");
  expectRefused(with(file, nodeOf(file, root, 1), uint32_t{0xFFFFFFFF}), root, "of the tree lies outside the file");
  expectRefused(with(file, root, uint64_t{77}), root, "is not the branch of the tree that it must be; damaged");
  expectRefused(with(file, firstLeaf(file) + 10, uint16_t{1}), firstLeaf(file), "is not the leaf of the tree");
}

TEST(Lmdb, RefusesCycles) {
  const Bytes file = tree();
  const uint64_t root = rootOf(file), inner = childOf(file, root, 0);
  expectRefused(with(file, nodeOf(file, root, 0), static_cast<uint32_t>(root / pageBytes)), root,
                "is not the leaf of the tree");
  expectRefused(with(file, nodeOf(file, inner, 1), static_cast<uint32_t>(firstLeaf(file) / pageBytes)), firstLeaf(file),
                "keys must rise, the file is damaged");
  expectRefused(with(file, nodeOf(file, root, 1), static_cast<uint32_t>(inner / pageBytes)), firstLeaf(file),
                "keys must rise, the file is damaged");
}

TEST(Lmdb, RefusesWrongDepthsAndCounts) {
  const Bytes file = tree();
  const uint64_t head = headOf(file);
  for (const uint16_t depth : {0, 33}) {
    expectRefused(with(file, head + 94, depth), head, concat("the tree has ", depth, " levels; 1 to 32 are read"));
  }
  expectRefused(with(file, head + 94, uint16_t{2}), childOf(file, rootOf(file), 0), "is not the leaf of the tree");
  expectRefused(with(file, head + 94, uint16_t{4}), firstLeaf(file), "is not the branch of the tree");
  expectRefused(with(file, head + 120, uint64_t{119}), head, "the tree has 120 entries, its head says 119");
}

TEST(Lmdb, RefusesDamagedPages) {
  const Bytes file = tree();
  const uint64_t leaf = firstLeaf(file);
  expectRefused(with(file, leaf + 12, uint16_t{16}), leaf, "the free space of a page is from 16 to");
  expectRefused(with(file, leaf + 12, uint16_t{0xFFFE}), leaf, "the free space of a page is from 65534 to");
  expectRefused(with(file, leaf + 14, uint16_t{4097}), leaf, "to 4097; damaged");
  expectRefused(with(file, leaf + 16, uint16_t{4095}), leaf, "node 0 reaches beyond its page");
  expectRefused(with(file, leaf + 16, uint16_t{0xFFFF}), leaf, "node 0 reaches beyond its page");
  expectRefused(with(file, leaf + 16, uint16_t{16}), leaf, "node 0 reaches beyond its page");
  expectRefused(with(file, nodeOf(file, leaf, 0) + 6, uint16_t{0xFFFF}), leaf, "node 0 reaches beyond its page");
  expectRefused(with(file, nodeOf(file, leaf, 0) + 6, uint16_t{0}), leaf, "a key has 0 bytes; 1 to 511 are read");
  expectRefused(with(file, nodeOf(file, leaf, 1), uint32_t{5000}), leaf, "reaches beyond its page; damaged");
}

TEST(Lmdb, RefusesValuesBeyondTheFile) {
  const Bytes file = tree();
  const auto entries = indexOf(file).value();
  const auto own = std::ranges::find_if(entries, [](const LmdbEntry& entry) { return entry.page != 0; });
  ASSERT_EQ(own - entries.begin(), 0) << "key 0001 is the first";
  const uint64_t leaf = firstLeaf(file), node = nodeOf(file, leaf, 0), page = node + 8 + 404;
  expectRefused(with(file, page, uint64_t{1} << 50), leaf, "lies outside the file (page 1125899906842624)");
  expectRefused(with(file, page, ~uint64_t{0}), leaf, "lies outside the file");
  expectRefused(with(file, node, uint32_t{1} << 29), leaf, "lies outside the file");
  expectRefused(with(file, node, uint32_t{0xFFFFFFFF}), leaf, "has 4294967295 bytes; the limit is 1073741824");
  for (const auto& [at, part] : {std::pair{0, "number"}, {10, "kind"}, {12, "pages"}}) {
    Bytes memory;
    const Bytes damaged = with(file, own->page * pageBytes + static_cast<uint64_t>(at), uint16_t{1});
    const auto value = readLmdbValue(*own, readerOf(damaged), memory);
    ASSERT_FALSE(value.ok()) << part;
    EXPECT_NE(value.error().text.find("does not begin a value of 5001 bytes, as the tree says"), std::string::npos);
    EXPECT_EQ(value.error().offset, own->page * pageBytes);
  }
}

TEST(Lmdb, RefusesTruncatedFiles) {
  const Bytes file = tree();
  for (uint64_t pages = 1; pages < file.size() / pageBytes; pages += 8) {
    const auto cut = indexOf(Bytes(file.begin(), file.begin() + static_cast<int64_t>(pages * pageBytes)));
    if (cut.ok()) continue;  // behind the last page that is used
    EXPECT_NE(cut.error().text.find("truncated"), std::string::npos) << cut.error().text;
  }
  const Bytes half(file.begin(), file.begin() + static_cast<int64_t>(file.size() / 2));
  EXPECT_FALSE(indexOf(half).ok());
}

TEST(Lmdb, HasLimits) {
  const Bytes file = tree();
  expectRefused(file, headOf(file), "the tree has 3 levels; 1 to 2 are read", {.depth = 2});
  EXPECT_NE(indexOf(file, {.entries = 100}).error().text.find("more than 100 entries"), std::string::npos);
  EXPECT_NE(indexOf(file, {.keyBytes = 403}).error().text.find("a key has 404 bytes; 1 to 403 are read"),
            std::string::npos);
  EXPECT_NE(indexOf(file, {.valueBytes = 5000}).error().text.find("has 5001 bytes; the limit is 5000"),
            std::string::npos);
}

}  // namespace
}  // namespace tandem
