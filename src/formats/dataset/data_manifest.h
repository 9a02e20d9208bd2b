#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/io/result.h"
#include "formats/io/summed_file.h"

namespace tandem {

/// tandem-data.json: what a data set was made of, and its files as far as they are there. It is written again with each
/// of them, so that the work can go on after an interruption.
///
///   {"format": "tandem-data", "version": 2, "complete": true, "options": {"to": "packed", ...},
///    "splits": [{"name": "train", "images": 9000, "skipped": 1, "sha256": "...", "shards": [
///      {"images": 4095, "skipped": 1, "bytes": 614215244, "sha256": "..."}, null, ...]}]}
struct DataManifest {
  struct Shard {
    int64_t images = 0, skipped = 0;  ///< in it, and that could not be read
    FileSum file;
  };
  struct Split {
    std::string name;
    std::vector<std::optional<Shard>> shards;  ///< none: not yet there

    int64_t images() const;
    int64_t skipped() const;
    /// The SHA-256 of those of its shards, as texts, one behind the other.
    std::string sha256() const;
  };

  bool complete = false;
  std::vector<std::pair<std::string, std::string>> options;  ///< all that the content is a function of, by name
  std::vector<Split> splits;
};

/// The name of its file.
constexpr const char* manifestName = "tandem-data.json";

/// Refuses another version, a member of another type, and a number below 0. The sums over a split are not read: they
/// follow from its shards.
Result<DataManifest> parseManifest(std::span<const uint8_t> bytes);

std::string manifestText(const DataManifest& manifest);

}  // namespace tandem
