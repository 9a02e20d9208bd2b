#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/io/checksum.h"
#include "formats/io/little_endian.h"

namespace tandem {

/// A packed shard with these parts, whatever they hold, and checksums that are right.
inline std::vector<uint8_t> packedBytes(std::string_view samples, const std::vector<uint8_t>& index,
                                        std::string_view description) {
  constexpr std::string_view magic = "tandem-packed 1\n";
  std::string all;
  all.append(magic).append(samples);
  std::vector<uint8_t> end;
  appendLittleEndian(end, uint64_t{all.size()});
  all.append(index.begin(), index.end());
  appendLittleEndian(end, uint64_t{all.size()});
  appendLittleEndian(end, crc32cOf(index)), appendLittleEndian(end, crc32cOf(description));
  appendLittleEndian(end, crc32cOf(end));
  all.append(description).append(end.begin(), end.end()).append(magic);
  return {all.begin(), all.end()};
}

}  // namespace tandem
