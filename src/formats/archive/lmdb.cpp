#include "formats/archive/lmdb.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "base/utf8.h"
#include "formats/io/little_endian.h"

namespace tandem {
namespace {

using Page = std::span<const uint8_t>;

// MDB_page: number of the page, 16 bits unused, flags, and bounds of the free space (of a value: number of its pages).
constexpr uint64_t pageHead = 16, flagsAt = 10, lowerAt = 12, upperAt = 14, pagesAt = 12;
constexpr uint16_t branch = 0x01, leaf = 0x02, ofValue = 0x04, ofMeta = 0x08, kinds = 0x6F;
constexpr uint64_t smallestPage = 256, largestPage = 32768;

// MDB_meta, behind the head of pages 0 and 1. MDB_db, of the free pages and of the main database, is 48 bytes.
constexpr uint64_t versionAt = 4, freeAt = 24, mainAt = 72, lastPageAt = 120, transactionAt = 128, metaBytes = 136;
constexpr uint64_t dbFlagsAt = 4, dbDepthAt = 6, dbEntriesAt = 32, dbRootAt = 40;
constexpr uint32_t magic = 0xBEEFC0DE, version = 1;
constexpr uint64_t noRoot = ~uint64_t{0};

// MDB_node: 32 bits of size or page number, flags or its upper 16 bits, bytes of the key, the key, the data.
constexpr uint64_t nodeHead = 8, nodeFlagsAt = 4, keyBytesAt = 6;
constexpr uint16_t hasOwnPages = 0x01;

/// A snapshot of the database.
struct Meta {
  uint64_t at, pageBytes, lastPage, transaction, entries, root;
  uint16_t flags, depth;
};

Result<Meta> metaAt(uint64_t at, uint64_t size, const ReadAt& read) {
  std::array<uint8_t, pageHead + metaBytes> bytes{};
  if (at > size || size - at < bytes.size()) return parseError(at, "the file ends within LMDB's head; truncated");
  read(at, bytes);
  const Page meta = Page(bytes).subspan(pageHead), main = meta.subspan(mainAt);
  if ((littleEndian<uint16_t>(bytes, flagsAt) & ofMeta) == 0 || littleEndian<uint32_t>(meta, 0) != magic) {
    return parseError(at, "no head of LMDB, as a little-endian machine with 64 bits writes it");
  }
  if (littleEndian<uint32_t>(meta, versionAt) != version) {
    return parseError(at, "LMDB's data version is ", littleEndian<uint32_t>(meta, versionAt), "; ", version,
                      " is read");
  }
  return Meta{.at = at,
              .pageBytes = littleEndian<uint32_t>(meta, freeAt),
              .lastPage = littleEndian<uint64_t>(meta, lastPageAt),
              .transaction = littleEndian<uint64_t>(meta, transactionAt),
              .entries = littleEndian<uint64_t>(main, dbEntriesAt),
              .root = littleEndian<uint64_t>(main, dbRootAt),
              .flags = littleEndian<uint16_t>(main, dbFlagsAt),
              .depth = littleEndian<uint16_t>(main, dbDepthAt)};
}

/// The newer of the two heads, which transactions write in turns.
Result<Meta> newestMeta(uint64_t size, const ReadAt& read) {
  const auto first = metaAt(0, size, read);
  if (!first) return first;
  const uint64_t pageBytes = first.value().pageBytes;
  if (!std::has_single_bit(pageBytes) || pageBytes < smallestPage || pageBytes > largestPage) {
    return parseError(0, "pages of ", pageBytes, " bytes; ", smallestPage, " to ", largestPage,
                      ", a power of two, are read");
  }
  const auto second = metaAt(pageBytes, size, read);
  if (!second) return second;
  if (second.value().pageBytes != pageBytes) return parseError(pageBytes, "the heads differ in the size of pages");
  return second.value().transaction > first.value().transaction ? second : first;
}

/// Walks the tree by a stack of pages. Leaves stand on one level, each has an entry, and keys rise. So a page that is
/// reached again is refused at the leaf below it, and the walk ends.
class Walk {
 public:
  Walk(const Meta& meta, uint64_t size, const ReadAt& read, const LmdbLimits& limits)
      : meta_(meta), size_(size), read_(read), limits_(limits) {}

  Result<std::vector<LmdbEntry>> entries() {
    if (!enter(meta_.root, meta_.at)) return *error_;
    while (!levels_.empty()) {
      Level& level = levels_.back();
      const bool isLeaf = levels_.size() == meta_.depth;
      if (level.next == level.nodes) {
        levels_.pop_back();
      } else if (!(isLeaf ? takeEntry(level, level.next++) : descend(level, level.next++))) {
        return *error_;
      }
    }
    if (entries_.size() == meta_.entries) return std::move(entries_);
    return parseError(meta_.at, "the tree has ", entries_.size(), " entries, its head says ", meta_.entries,
                      "; damaged");
  }

 private:
  struct Level {
    std::vector<uint8_t> page;
    uint64_t at = 0, nodes = 0, next = 0;  // offset in the file; number of nodes; the next node
  };

  template <class... Parts>
  bool refuse(uint64_t at, const Parts&... parts) {
    error_ = parseError(at, parts...);
    return false;
  }

  /// Whether `count` pages from this one on lie in the file.
  bool areThere(uint64_t page, uint64_t count) const {
    const uint64_t pages = std::min(meta_.lastPage, size_ / meta_.pageBytes - 1) + 1;
    return page >= 2 && page < pages && count <= pages - page;
  }

  /// Puts a page onto the stack, of which the page at `from` says the number.
  bool enter(uint64_t number, uint64_t from) {
    if (!areThere(number, 1)) {
      return refuse(from, "page ", number, " of the tree lies outside the file; truncated or damaged");
    }
    Level level{.page = std::vector<uint8_t>(meta_.pageBytes), .at = number * meta_.pageBytes};
    read_(level.at, level.page);
    const bool shouldBeLeaf = levels_.size() + 1 == meta_.depth;
    const auto flags = static_cast<uint16_t>(littleEndian<uint16_t>(level.page, flagsAt) & kinds);
    if (littleEndian<uint64_t>(level.page, 0) != number || flags != (shouldBeLeaf ? leaf : branch)) {
      return refuse(level.at, "page ", number, " is not the ", shouldBeLeaf ? "leaf" : "branch",
                    " of the tree that it must be; damaged");
    }
    const uint64_t lower = littleEndian<uint16_t>(level.page, lowerAt);
    const uint64_t upper = littleEndian<uint16_t>(level.page, upperAt);
    if (lower <= pageHead || lower % 2 != 0 || lower > upper || upper > meta_.pageBytes) {
      return refuse(level.at, "the free space of a page is from ", lower, " to ", upper, "; damaged");
    }
    level.nodes = (lower - pageHead) / 2;
    levels_.push_back(std::move(level));
    return true;
  }

  /// A node, with its key; empty if it reaches beyond its page.
  Page nodeOf(const Level& level, uint64_t index) {
    const uint64_t at = littleEndian<uint16_t>(level.page, pageHead + 2 * index);
    const uint64_t upper = littleEndian<uint16_t>(level.page, upperAt);
    const Page node = at < upper || at > meta_.pageBytes ? Page() : Page(level.page).subspan(at);
    if (node.size() >= nodeHead && node.size() - nodeHead >= littleEndian<uint16_t>(node, keyBytesAt)) return node;
    refuse(level.at, "node ", index, " reaches beyond its page; damaged");
    return {};
  }

  bool descend(const Level& level, uint64_t index) {
    const Page node = nodeOf(level, index);
    if (node.empty()) return false;
    const uint64_t upperBits = littleEndian<uint16_t>(node, nodeFlagsAt);
    return enter(littleEndian<uint32_t>(node, 0) | upperBits << 32, level.at);
  }

  bool takeEntry(const Level& level, uint64_t index) {
    const Page node = nodeOf(level, index);
    if (node.empty()) return false;
    const uint64_t keyBytes = littleEndian<uint16_t>(node, keyBytesAt), head = nodeHead + keyBytes;
    if (keyBytes == 0 || keyBytes > limits_.keyBytes) {
      return refuse(level.at, "a key has ", keyBytes, " bytes; 1 to ", limits_.keyBytes, " are read");
    }
    LmdbEntry entry{.key = {reinterpret_cast<const char*>(node.data()) + nodeHead, keyBytes},
                    .offset = level.at + static_cast<uint64_t>(node.data() - level.page.data()) + head,
                    .bytes = littleEndian<uint32_t>(node, 0)};
    if (!entries_.empty() && entry.key <= entries_.back().key) {
      return refuse(level.at, "key '", escaped(entry.key), "' stands behind '", escaped(entries_.back().key),
                    "'; keys must rise, the file is damaged");
    }
    if (entries_.size() == limits_.entries) return refuse(level.at, "more than ", limits_.entries, " entries");
    if (!place(entry, level, node.subspan(head), littleEndian<uint16_t>(node, nodeFlagsAt))) return false;
    entries_.push_back(std::move(entry));
    return true;
  }

  bool place(LmdbEntry& entry, const Level& level, Page data, uint16_t flags) {
    const auto says = [&](const auto&... parts) {
      return refuse(level.at, "the value of key '", escaped(entry.key), "' ", parts...);
    };
    if ((flags & ~hasOwnPages) != 0) return says("is a database or several values, which are not read");
    if (entry.bytes > limits_.valueBytes) return says("has ", entry.bytes, " bytes; the limit is ", limits_.valueBytes);
    if (flags == 0) return entry.bytes <= data.size() || says("reaches beyond its page; damaged");
    if (data.size() < sizeof(uint64_t)) return says("has no page; damaged");
    entry.page = littleEndian<uint64_t>(data, 0);
    const uint64_t pages = (pageHead + entry.bytes + meta_.pageBytes - 1) / meta_.pageBytes;
    if (!areThere(entry.page, pages)) {
      return says("lies outside the file (page ", entry.page, "); truncated or damaged");
    }
    entry.offset = entry.page * meta_.pageBytes + pageHead;
    return true;
  }

  const Meta meta_;
  const uint64_t size_;
  const ReadAt& read_;
  const LmdbLimits& limits_;
  std::vector<Level> levels_;  // from the root to the current page
  std::vector<LmdbEntry> entries_;
  std::optional<ParseError> error_;
};

}  // namespace

Result<std::vector<LmdbEntry>> indexLmdb(uint64_t size, const ReadAt& read, const LmdbLimits& limits) {
  const auto meta = newestMeta(size, read);
  if (!meta) return meta.error();
  const Meta& head = meta.value();
  if (head.flags != 0) {
    return parseError(head.at, "the main database has the flags ", head.flags,
                      ": several values of a key, or an order of its own, which are not read");
  }
  if (head.root == noRoot) return std::vector<LmdbEntry>();
  if (head.depth == 0 || head.depth > limits.depth) {
    return parseError(head.at, "the tree has ", head.depth, " levels; 1 to ", limits.depth, " are read");
  }
  return Walk(head, size, read, limits).entries();
}

Result<std::span<const uint8_t>> readLmdbValue(const LmdbEntry& entry, const ReadAt& read,
                                               std::vector<uint8_t>& memory) {
  const uint64_t head = entry.page == 0 ? 0 : pageHead, start = entry.offset - head;
  memory.resize(head + entry.bytes);
  read(start, memory);
  const Page value = Page(memory).subspan(head);
  if (entry.page == 0) return value;
  const bool isKind = (littleEndian<uint16_t>(memory, flagsAt) & kinds) == ofValue;
  const uint64_t room = littleEndian<uint32_t>(memory, pagesAt) * (start / entry.page);
  if (isKind && littleEndian<uint64_t>(memory, 0) == entry.page && room >= memory.size()) return value;
  return parseError(start, "page ", entry.page, " does not begin a value of ", entry.bytes,
                    " bytes, as the tree says; damaged");
}

}  // namespace tandem
