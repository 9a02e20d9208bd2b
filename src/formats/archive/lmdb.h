#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/io/file.h"
#include "formats/io/result.h"

namespace tandem {

/// A key of a database, and where its value lies in the file.
struct LmdbEntry {
  std::string key;
  uint64_t offset = 0, bytes = 0;
  uint64_t page = 0;  ///< the first of the value's own pages, whose head stands before it; 0: it is in the tree
};

struct LmdbLimits {
  uint64_t entries = uint64_t{1} << 27;
  uint64_t keyBytes = 511;  ///< LMDB's own
  uint64_t valueBytes = uint64_t{1} << 30;
  uint64_t depth = 32;  ///< levels of the tree; LMDB's own
};

/// The entries of the main database in the order of their keys, from a file of `size` bytes by LMDB (data version 1, of
/// little-endian machines with 64 bits; structures in libraries/liblmdb/mdb.c of openldap.org). What the newest
/// transaction wrote counts. Reads the pages of the tree, of values no byte. Nobody may write to the file meanwhile.
/// Refuses pages that are not where or what the tree says, keys that do not rise, values behind the file's end, and
/// what is over the limits. Refuses named databases, several values of a key, and orders of its own.
Result<std::vector<LmdbEntry>> indexLmdb(uint64_t size, const ReadAt& read, const LmdbLimits& limits = {});

/// The value of an entry, which lies in `memory` then. Refuses it if its page is not as the tree said.
Result<std::span<const uint8_t>> readLmdbValue(const LmdbEntry& entry, const ReadAt& read,
                                               std::vector<uint8_t>& memory);

}  // namespace tandem
