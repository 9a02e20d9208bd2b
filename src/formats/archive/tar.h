#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "formats/io/result.h"

namespace tandem {

/// A regular file in a tar archive, and where its bytes lie.
struct TarEntry {
  std::string name;
  uint64_t offset = 0, bytes = 0;
};

struct TarLimits {
  uint64_t entries = uint64_t{1} << 27;
  uint64_t nameBytes = 4096;
};

/// Fills `out` with the archive's bytes at `offset`. Only ranges within the archive are asked for.
using ReadArchive = std::function<void(uint64_t offset, std::span<uint8_t> out)>;

/// The regular files of an archive of `size` bytes in their order, by its headers alone: ustar and pax
/// (POSIX.1-2001, 4.18 of `pax`), and GNU's long names. Folders, links and devices are left out. Refuses a header whose
/// checksum differs, sizes beyond the archive, sparse files, an archive that ends within a file, and what is over the
/// limits.
Result<std::vector<TarEntry>> indexTar(uint64_t size, const ReadArchive& read, const TarLimits& limits = {});

}  // namespace tandem
