#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace tandem {

/// Writes a matrix [rows, columns] of fp32 in row-major order as NumPy's .npy, version 1.0 (NEP 1). The file is written
/// as AtomicFile does. Throws StorageError. REQUIRES: rows * columns values.
void writeNpy(const std::string& path, std::span<const float> values, int64_t rows, int64_t columns);

/// The bytes before the values: "\x93NUMPY", the version, the header's length as 16 bits, and the header. The header is
/// a Python literal of type, order and shape. It is padded so that the values begin at a multiple of 64 bytes.
std::string npyHeader(int64_t rows, int64_t columns);

}  // namespace tandem
