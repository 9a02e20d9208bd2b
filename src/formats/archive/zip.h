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

/// An entry of a zip file. It refers to the parsed bytes.
struct ZipEntry {
  std::string_view name;
  std::span<const uint8_t> data;
  uint64_t offset = 0;  ///< offset of the data in the file
};

bool isZip(std::span<const uint8_t> head);

/// Reads the zip files of torch.save (PKWARE's APPNOTE.TXT): stored entries, with or without zip64 and data
/// descriptors, no comment. Refuses compressed, encrypted, repeated and overlapping entries, and wrong checksums.
/// Refuses entries that reach outside the file or contradict its directory, names that leave the archive, and several
/// disks.
Result<std::vector<ZipEntry>> parseZip(std::span<const uint8_t> bytes, const ZipLimits& limits = {});

}  // namespace tandem
