#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/io/file.h"
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

/// The regular files of an archive of `size` bytes in their order, by its headers alone: ustar and pax
/// (POSIX.1-2001, 4.18 of `pax`), and GNU's long names. Folders, links and devices are left out. Refuses a header whose
/// checksum differs, sizes beyond the archive, sparse files, an archive that ends within a file, and what is over the
/// limits.
Result<std::vector<TarEntry>> indexTar(uint64_t size, const ReadAt& read, const TarLimits& limits = {});

/// What stands before the bytes of a regular file: a ustar header without an owner and a time, so that an archive is a
/// function of its files. REQUIRES: a name of 1 to 100 bytes, and less than 8 GiB.
std::vector<uint8_t> tarHeader(std::string_view name, uint64_t bytes);

/// The zeros that stand behind so many bytes of a file, and those behind the last file.
std::vector<uint8_t> tarPadding(uint64_t bytes);
std::vector<uint8_t> tarEnd();

}  // namespace tandem
