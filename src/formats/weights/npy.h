#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace tandem {

/// Writes a matrix [rows, columns] of fp32 in row-major order as NumPy's .npy, version 1.0: "\x93NUMPY", the version,
/// the header's length as 16 bits, and the header, a Python literal of type, order and shape, which ends in a line
/// break and is filled up so that the values begin at a multiple of 64 bytes. See NEP 1 of NumPy. The file replaces
/// `path` when it is complete and on disk. Throws StorageError. REQUIRES: rows * columns values.
void writeNpy(const std::string& path, std::span<const float> values, int64_t rows, int64_t columns);

/// What stands before the values.
std::string npyHeader(int64_t rows, int64_t columns);

}  // namespace tandem
