#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "formats/io/result.h"

namespace tandem {

struct ZipLimits {
  uint64_t entries = 1 << 16;
};

/// An entry of a zip file; a view of the bytes parsed.
struct ZipEntry {
  std::string_view name;
  std::span<const uint8_t> data;
  uint64_t offset = 0;  ///< of the data in the file
};

bool isZip(std::span<const uint8_t> head);

/// Reads the zip files that torch.save writes: stored entries, with or without zip64 and data descriptors, no comment
/// (PKWARE's APPNOTE.TXT). Refuses compressed, encrypted, repeated and overlapping entries, entries that reach outside
/// the file or contradict its directory, names that leave the archive, several disks, and wrong checksums.
Result<std::vector<ZipEntry>> parseZip(std::span<const uint8_t> bytes, const ZipLimits& limits = {});

}  // namespace tandem
