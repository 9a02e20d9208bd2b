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

}  // namespace

uint32_t maskedCrc32c(std::string_view bytes) {
  const uint32_t crc = crc32cOf(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8;
}

std::string tfrecordOf(std::string_view bytes) {
  const std::string length = bytesOf(uint64_t{bytes.size()});
  return length + bytesOf(maskedCrc32c(length)) + std::string(bytes) + bytesOf(maskedCrc32c(bytes));
}

}  // namespace tandem
