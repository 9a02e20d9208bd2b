#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tandem {

/// CRC-32C (Castagnoli) of the bytes: RFC 3720, appendix B.4. Several bytes a cycle where the processor has an
/// instruction for it.
uint32_t crc32cOf(std::span<const uint8_t> bytes);
uint32_t crc32cOf(std::string_view bytes);
/// The same by tables, eight bytes at a time: the twin of the tests, and for processors without the instruction.
uint32_t crc32cByTables(std::span<const uint8_t> bytes);

/// SHA-256 of the bytes as 64 hexadecimal digits, as sha256sum prints it.
std::string sha256Of(std::span<const uint8_t> bytes);

/// The SHA-256 of bytes that come in parts.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(std::span<const uint8_t> bytes);
  /// Of all that was added, as sha256Of() gives it. REQUIRES: nothing is added or asked afterwards.
  std::string text();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tandem
