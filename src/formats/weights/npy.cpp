#include "formats/weights/npy.h"

#include <bit>

#include "base/error.h"
#include "base/text.h"
#include "formats/io/atomic_file.h"

namespace tandem {

std::string npyHeader(int64_t rows, int64_t columns) {
  constexpr size_t alignment = 64, before = 10;
  std::string text = concat("{'descr': '<f4', 'fortran_order': False, 'shape': (", rows, ", ", columns, "), }");
  const size_t whole = (before + text.size() + 1 + alignment - 1) / alignment * alignment;
  text.resize(whole - before - 1, ' ');
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(text.size() & 0xFF);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

void writeNpy(const std::string& path, std::span<const float> values, int64_t rows, int64_t columns) {
  static_assert(std::endian::native == std::endian::little);
  check(std::ssize(values) == rows * columns, "a matrix has rows times columns values");
  const std::string header = npyHeader(rows, columns);
  AtomicFile file(path);
  file.append(asBytes(header));
  file.append({reinterpret_cast<const uint8_t*>(values.data()), values.size_bytes()});
  file.commit();
}

}  // namespace tandem
