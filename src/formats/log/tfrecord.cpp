#include "formats/log/tfrecord.h"

#include <cstdint>

#include "formats/io/checksum.h"

namespace tandem {
namespace {

template <class Number>
std::string bytesOf(Number number) {
  std::string bytes;
  for (size_t i = 0; i < sizeof number; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xff);
  return bytes;
}

/// TFRecord's mask: rotate and add a constant, so that the CRC of bytes that contain CRCs does not degenerate.
uint32_t masked(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8; }

}  // namespace

std::string tfrecordOf(std::string_view bytes) {
  const std::string length = bytesOf(uint64_t{bytes.size()});
  return length + bytesOf(masked(crc32cOf(length))) + std::string(bytes) + bytesOf(masked(crc32cOf(bytes)));
}

}  // namespace tandem
