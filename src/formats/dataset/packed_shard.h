#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/io/file.h"
#include "formats/io/result.h"
#include "formats/io/summed_file.h"

namespace tandem {

/// A packed shard: many samples in one file, with all that is needed to read any of them at once. Numbers are
/// little-endian. One behind the other lie
///
///   - 16 bytes "tandem-packed 1\n", where 1 is the version.
///   - The samples' bytes.
///   - The index: for each sample its offset (8 bytes), its length (4) and the CRC-32C of its bytes (4). Then the
///   labels.
///   - The description: JSON.
///   - 44 bytes: offsets of index and description (8 each), and the CRC-32C of either (4 each). Then the CRC-32C of
///     these 24 bytes, and again the first 16 bytes of the file.
///
/// What is known of all samples only when the last one is there stands behind them, so that a file is written once from
/// its beginning to its end. It is read in parts and not mapped: a file that shrinks then is an error, and no signal.

/// What is said of the samples of a shard: its description, in JSON
///
///   {"labels": "class", "label_bytes": 8, "classes": 10, "class_names": ["cat", ...], "size": [224, 224, 3],
///    "samples": 4096, "sums": [...], "squares": [...]}
///
/// of which class_names may be missing, and sums and squares are there for pixels alone.
struct PackedFacts {
  std::string labels = {};                   ///< name of their kind
  int64_t labelBytes = 0;                    ///< of each sample
  int64_t classes = 0;                       ///< 0: not known
  std::vector<std::string> classNames = {};  ///< empty: not known

  int64_t height = 0, width = 0, channels = 0;      ///< of pixels [H, W, C] in bytes; 0: samples are image files
  std::array<uint64_t, 3> sums = {}, squares = {};  ///< of all pixels, and of their squares, for each channel

  bool operator==(const PackedFacts&) const = default;
};

/// Where a sample lies in its file.
struct PackedPlace {
  uint64_t offset = 0;
  uint32_t bytes = 0, crc32c = 0;
};

struct PackedShard {
  PackedFacts facts;
  std::vector<PackedPlace> places;
  std::vector<uint8_t> labels;  ///< [N, labelBytes]

  size_t size() const { return places.size(); }
  std::span<const uint8_t> labelOf(size_t sample) const {
    const auto bytes = static_cast<size_t>(facts.labelBytes);
    return std::span(labels).subspan(sample * bytes, bytes);
  }
};

struct PackedLimits {
  uint64_t sampleBytes = uint64_t{1} << 28;
  uint64_t descriptionBytes = uint64_t{1} << 24;
  int64_t labelBytes = 1 << 20;
  int64_t edge = 1 << 15;  ///< of height or width, in pixels
};

/// All of a shard of `size` bytes but its samples, whose checksums are compared when they are read. Refuses another
/// version, checksums that differ, sizes that do not fit to each other or to the file, and what is over the limits.
Result<PackedShard> parsePackedShard(uint64_t size, const ReadAt& read, const PackedLimits& limits = {});

/// Writes a shard, which appears whole or not at all. All members throw StorageError.
class PackedShardWriter {
 public:
  explicit PackedShardWriter(std::string path);

  /// REQUIRES: what is added is within PackedLimits, and the label has as many bytes as all others.
  void add(std::span<const uint8_t> sample, std::span<const uint8_t> label);
  /// REQUIRES: the facts are those of the samples; this is the last call.
  FileSum commit(const PackedFacts& facts);

 private:
  SummedFile file_;
  std::vector<uint8_t> places_, labels_;  // as they are written
  size_t samples_ = 0;
};

}  // namespace tandem
