#pragma once

#include <zlib.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

/// An entry as it shall stand in a zip file; what is set here may contradict the data.
struct ZipPart {
  std::string name, data;
  uint16_t method = 0, flags = 0;
  std::optional<uint32_t> checksum = std::nullopt;
  std::optional<uint64_t> size = std::nullopt, local = std::nullopt;  ///< in the directory
  std::string localName = {};                                         ///< empty: the name
  bool zip64 = false;                                                 ///< numbers of the directory in an extra field
};

struct ZipEnd {
  bool zip64 = false;
  std::string comment = {};
};

/// Writes zip files, good and bad ones.
class ZipWriter {
 public:
  std::string write(const std::vector<ZipPart>& parts, const ZipEnd& end = {}) {
    for (const ZipPart& part : parts) add(part);
    const uint64_t begin = out_.size();
    out_ += directory_;
    if (end.zip64) addEnd64(parts.size(), begin);
    number(0x06054B50, 4);
    number(0, 4);
    for (int i = 0; i < 2; ++i) number(end.zip64 ? 0xFFFF : parts.size(), 2);
    number(end.zip64 ? 0xFFFFFFFF : directory_.size(), 4);
    number(end.zip64 ? 0xFFFFFFFF : begin, 4);
    number(end.comment.size(), 2);
    return out_ + end.comment;
  }

 private:
  static void put(std::string& out, uint64_t value, int bytes) {
    for (; bytes > 0; --bytes, value >>= 8) out += static_cast<char>(value & 0xFF);
  }
  void number(uint64_t value, int bytes) { put(out_, value, bytes); }

  static uint32_t sum(const std::string& data) {
    return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(data.data()), data.size()));
  }

  void add(const ZipPart& part) {
    const uint64_t local = out_.size();
    const uint32_t checksum = part.checksum.value_or(sum(part.data));
    const bool descriptor = (part.flags & 8) != 0;
    const std::string& name = part.localName.empty() ? part.name : part.localName;
    number(0x04034B50, 4);
    number(20, 2);
    number(part.flags, 2);
    number(part.method, 2);
    number(0, 4);
    number(descriptor ? 0 : checksum, 4);
    for (int i = 0; i < 2; ++i) number(descriptor ? 0 : part.data.size(), 4);
    number(name.size(), 2);
    number(0, 2);
    out_ += name + part.data;
    if (descriptor && !part.data.empty()) {
      number(0x08074B50, 4);
      number(checksum, 4);
      for (int i = 0; i < 2; ++i) number(part.data.size(), part.zip64 ? 8 : 4);
    }
    describe(part, checksum, part.local.value_or(local));
  }

  void describe(const ZipPart& part, uint32_t checksum, uint64_t local) {
    const uint64_t size = part.size.value_or(part.data.size());
    std::string extra;
    if (part.zip64) {
      put(extra, 1, 2);
      put(extra, 24, 2);
      for (const uint64_t value : {size, size, local}) put(extra, value, 8);
    }
    put(directory_, 0x02014B50, 4);
    put(directory_, 20 | uint64_t{20} << 16, 4);
    put(directory_, part.flags, 2);
    put(directory_, part.method, 2);
    put(directory_, 0, 4);
    put(directory_, checksum, 4);
    for (int i = 0; i < 2; ++i) put(directory_, part.zip64 ? 0xFFFFFFFF : size, 4);
    put(directory_, part.name.size(), 2);
    put(directory_, extra.size(), 2);
    put(directory_, 0, 10);
    put(directory_, part.zip64 ? 0xFFFFFFFF : local, 4);
    directory_ += part.name + extra;
  }

  void addEnd64(uint64_t entries, uint64_t begin) {
    const uint64_t at = out_.size();
    number(0x06064B50, 4);
    number(44, 8);
    number(45 | uint64_t{45} << 16, 4);
    number(0, 8);
    for (int i = 0; i < 2; ++i) number(entries, 8);
    number(directory_.size(), 8);
    number(begin, 8);
    number(0x07064B50, 4);
    number(0, 4);
    number(at, 8);
    number(1, 4);
  }

  std::string out_, directory_;
};

inline std::string zipOf(const std::vector<ZipPart>& parts, const ZipEnd& end = {}) {
  return ZipWriter().write(parts, end);
}

inline std::vector<uint8_t> bytesOf(std::string_view text) { return {text.begin(), text.end()}; }

}  // namespace tandem
