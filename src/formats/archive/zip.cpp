#include "formats/archive/zip.h"

#include <zlib.h>

#include <algorithm>
#include <optional>

#include "base/utf8.h"
#include "formats/io/little_endian.h"

namespace tandem {
namespace {

constexpr uint32_t localMark = 0x04034B50, entryMark = 0x02014B50, endMark = 0x06054B50, descriptorMark = 0x08074B50;
constexpr uint32_t end64Mark = 0x06064B50, locatorMark = 0x07064B50;
constexpr uint64_t localBytes = 30, entryBytes = 46, endBytes = 22, end64Bytes = 56, locatorBytes = 20;
constexpr uint16_t encrypted = 1, hasDescriptor = 8, utf8Name = 0x800;
constexpr uint32_t folderAttribute = 0x10;
constexpr uint16_t stored = 0, deflated = 8;
constexpr uint16_t zip64Extra = 1;
constexpr uint32_t inZip64 = 0xFFFFFFFF;

struct Directory {
  uint64_t begin = 0, size = 0, entries = 0;
};

/// An entry as the central directory describes it.
struct Described {
  std::string_view name;
  uint16_t flags = 0, method = 0;
  uint32_t checksum = 0;
  uint64_t packed = 0, size = 0, local = 0;  ///< bytes in the file, bytes of data, offset of the local header
};

/// Checks every field before it is used. Bounds are compared by subtraction, because sums of numbers from the file can
/// overflow. Other readers trust other copies of a field, so copies that differ are refused.
class ZipReader {
 public:
  ZipReader(std::span<const uint8_t> bytes, const ZipLimits& limits) : bytes_(bytes), limits_(limits) {}

  Result<std::vector<ZipEntry>> read() {
    // Overlaps are checked before checksums, so that no byte is summed twice.
    if (!findDirectory() || !readEntries() || !checkNames() || !checkOverlaps() || !checkSums()) return *error_;
    return std::move(entries_);
  }

 private:
  template <class... Parts>
  bool refuse(uint64_t offset, const Parts&... parts) {
    error_ = parseError(offset, parts...);
    return false;
  }

  uint16_t u16(uint64_t at) const { return littleEndian<uint16_t>(bytes_, at); }
  uint32_t u32(uint64_t at) const { return littleEndian<uint32_t>(bytes_, at); }
  uint64_t u64(uint64_t at) const { return littleEndian<uint64_t>(bytes_, at); }
  bool fits(uint64_t at, uint64_t count) const { return at <= bytes_.size() && count <= bytes_.size() - at; }
  std::string_view text(uint64_t at, uint64_t count) const {
    return {reinterpret_cast<const char*>(bytes_.data()) + at, count};
  }

  bool findDirectory() {
    const uint64_t size = bytes_.size();
    // A comment could hold a second end record, so the record must be the last 22 bytes.
    if (size < endBytes || u32(size - endBytes) != endMark || u16(size - 2) != 0) {
      return refuse(size,
                    "the zip file has no end record without comment in its last 22 bytes; truncated, fetch it again");
    }
    const uint64_t end = size - endBytes;
    if (u16(end + 4) != 0 || u16(end + 6) != 0) return refuse(end + 4, "the zip file is one of several disks");
    directory_ = {u32(end + 16), u32(end + 12), u16(end + 10)};
    uint64_t after = end;
    if (end >= locatorBytes && u32(end - locatorBytes) == locatorMark) {
      if (!readEnd64(end - locatorBytes, after)) return false;
    }
    // With a gap here, two readers could find two different directories.
    if (directory_.size > after || directory_.begin != after - directory_.size) {
      return refuse(end, "the zip directory of ", directory_.size, " bytes at ", directory_.begin,
                    " does not end where its end record stands, at ", after);
    }
    if (directory_.entries > limits_.entries) {
      return refuse(end, "the zip file has ", directory_.entries, " entries; the limit is ", limits_.entries);
    }
    return true;
  }

  /// Replaces `directory_` and `after` by the values of the zip64 records. A field of the old record must be all ones
  /// or equal.
  bool readEnd64(uint64_t locator, uint64_t& after) {
    const uint64_t at = u64(locator + 8);
    if (u32(locator + 4) != 0 || u32(locator + 16) > 1) return refuse(locator, "the zip file is one of several disks");
    if (locator < end64Bytes || at != locator - end64Bytes || u32(at) != end64Mark || u64(at + 4) != end64Bytes - 12) {
      return refuse(locator, "the zip64 locator does not point to the zip64 end record before it");
    }
    const Directory large{u64(at + 48), u64(at + 40), u64(at + 32)};
    const bool oneDisk = u32(at + 16) == 0 && u32(at + 20) == 0 && u64(at + 24) == large.entries;
    const bool agree = (directory_.begin == inZip64 || directory_.begin == large.begin) &&
                       (directory_.size == inZip64 || directory_.size == large.size) &&
                       (directory_.entries == 0xFFFF || directory_.entries == large.entries);
    if (!oneDisk || !agree) return refuse(at, "the end records of the zip file contradict each other");
    directory_ = large;
    after = at;
    return true;
  }

  bool readEntries() {
    uint64_t at = directory_.begin;
    const uint64_t end = directory_.begin + directory_.size;
    for (uint64_t i = 0; i < directory_.entries; ++i) {
      if (end - at < entryBytes || u32(at) != entryMark)
        return refuse(at, "entry ", i, " of the zip directory is missing");
      const uint64_t names = u16(at + 28), extras = u16(at + 30), comments = u16(at + 32);
      if (end - at - entryBytes < names + extras + comments) {
        return refuse(at, "entry ", i, " of the zip directory reaches beyond it");
      }
      Described entry{.name = text(at + entryBytes, names),
                      .flags = u16(at + 8),
                      .method = u16(at + 10),
                      .checksum = u32(at + 16),
                      .packed = u32(at + 20),
                      .size = u32(at + 24),
                      .local = u32(at + 42)};
      if (u16(at + 34) != 0) return refuse(at, "zip entry '", escaped(entry.name), "' is on another disk");
      if ((u32(at + 38) & folderAttribute) != 0) return refuse(at, "zip entry '", escaped(entry.name), "' is a folder");
      if (!widen(entry, at + entryBytes + names, extras) || !addEntry(entry, at)) return false;
      at += entryBytes + names + extras + comments;
    }
    return at == end || refuse(at, end - at, " bytes follow the last entry of the zip directory");
  }

  /// Replaces the entry's fields that are all ones by the numbers of the zip64 extra field.
  bool widen(Described& entry, uint64_t at, uint64_t count) {
    const uint64_t end = at + count;
    while (end - at >= 4) {
      const uint16_t kind = u16(at);
      const uint64_t length = u16(at + 2);
      at += 4;
      if (length > end - at) return refuse(at, "an extra field of zip entry '", escaped(entry.name), "' is too long");
      if (kind == zip64Extra) {
        uint64_t field = at;
        for (uint64_t* number : {&entry.size, &entry.packed, &entry.local}) {
          if (*number != inZip64) continue;
          if (at + length - field < 8) return refuse(at, "zip entry '", escaped(entry.name), "' lacks a zip64 number");
          *number = u64(field);
          field += 8;
        }
      }
      at += length;
    }
    return true;
  }

  bool addEntry(const Described& entry, uint64_t at) {
    const std::string name = concat("zip entry '", escaped(entry.name), "'");
    if ((entry.flags & encrypted) != 0) return refuse(at, name, " is encrypted");
    if ((entry.flags & ~(hasDescriptor | utf8Name)) != 0) return refuse(at, name, " has flags ", entry.flags);
    if (entry.method == deflated) {
      return refuse(at, name,
                    " is compressed; torch.save stores entries as they are. (TorchScript compresses; it is not read.) "
                    "Save the model's state_dict() with torch.save");
    }
    if (entry.method != stored) return refuse(at, name, " is packed by method ", entry.method, "; only stored is read");
    if (entry.packed != entry.size) {
      return refuse(at, name, " is stored, but has ", entry.packed, " bytes for ", entry.size);
    }
    const uint64_t limit = directory_.begin;
    if (entry.local > limit || limit - entry.local < localBytes || u32(entry.local) != localMark) {
      return refuse(at, name, " has no header at ", entry.local, ", where the directory says");
    }
    const uint64_t names = u16(entry.local + 26);
    const uint64_t before = localBytes + names + u16(entry.local + 28);
    if (limit - entry.local < before || limit - entry.local - before < entry.size) {
      return refuse(at, name, " of ", entry.size, " bytes reaches beyond the data of the zip file");
    }
    // A writer that did not know the size yet leaves it to the descriptor after the data.
    const bool sizesAgree =
        (entry.flags & hasDescriptor) != 0 || u32(entry.local + 22) == inZip64 || u32(entry.local + 22) == entry.size;
    if (u16(entry.local + 8) != entry.method || text(entry.local + localBytes, names) != entry.name || !sizesAgree) {
      return refuse(entry.local, "the header of ", name, " contradicts the directory");
    }
    const uint64_t data = entry.local + before;
    entries_.push_back({entry.name, bytes_.subspan(data, entry.size), data});
    extents_.emplace_back(entry.local, data + entry.size);
    sums_.push_back(entry.checksum);
    return checkDescriptor(entry, data + entry.size);
  }

  /// An empty entry has no descriptor.
  bool checkDescriptor(const Described& entry, uint64_t at) {
    if ((entry.flags & hasDescriptor) == 0 || entry.size == 0) return true;
    const bool found = fits(at, 24) && u32(at) == descriptorMark && u32(at + 4) == entry.checksum;
    const bool small = found && u32(at + 8) == entry.size && u32(at + 12) == entry.size;
    const bool large = found && u64(at + 8) == entry.size && u64(at + 16) == entry.size;
    return small || large ||
           refuse(at, "the descriptor of zip entry '", escaped(entry.name), "' contradicts the directory");
  }

  /// Checks that names are paths within the archive and unique.
  bool checkNames() {
    std::vector<std::string_view> names;
    for (const ZipEntry& entry : entries_) {
      const std::string_view name = entry.name;
      const bool plain = !name.empty() && isUtf8(name) && name.find('\0') == name.npos && name.find('\\') == name.npos;
      const std::string whole = concat('/', name, '/');
      if (!plain || name.front() == '/' || whole.find("/../") != whole.npos) {
        return refuse(entry.offset, "zip entry '", escaped(name), "' has a name that leaves the archive");
      }
      names.push_back(name);
    }
    std::ranges::sort(names);
    const auto twice = std::ranges::adjacent_find(names);
    return twice == names.end() || refuse(directory_.begin, "zip entry '", escaped(*twice), "' is there twice");
  }

  bool checkOverlaps() {
    std::ranges::sort(extents_);
    for (size_t i = 1; i < extents_.size(); ++i) {
      if (extents_[i].first < extents_[i - 1].second) return refuse(extents_[i].first, "two zip entries overlap here");
    }
    return true;
  }

  bool checkSums() {
    for (size_t i = 0; i < entries_.size(); ++i) {
      const auto& [name, data, offset] = entries_[i];
      if (static_cast<uint32_t>(crc32_z(0, data.data(), data.size())) == sums_[i]) continue;
      return refuse(
          offset, "zip entry '", escaped(name),
          "' has a wrong checksum: damaged, fetch the file again (or saved without checksums: save it again)");
    }
    return true;
  }

  std::span<const uint8_t> bytes_;
  const ZipLimits& limits_;
  Directory directory_;
  std::vector<ZipEntry> entries_;
  std::vector<std::pair<uint64_t, uint64_t>> extents_;  // byte range of each entry's local header and data
  std::vector<uint32_t> sums_;                          // checksum of each entry
  std::optional<ParseError> error_;
};

}  // namespace

bool isZip(std::span<const uint8_t> head) { return head.size() >= 4 && littleEndian<uint32_t>(head, 0) == localMark; }

Result<std::vector<ZipEntry>> parseZip(std::span<const uint8_t> bytes, const ZipLimits& limits) {
  return ZipReader(bytes, limits).read();
}

}  // namespace tandem
