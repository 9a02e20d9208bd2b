#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/writer/container.h"
#include "formats/io/summed_file.h"

namespace tandem {

/// Image files of a shard, and its part of the table (CSV) that describes them. All members throw StorageError.
class TabledImages {
 public:
  TabledImages(const ShardPlace& place, std::string_view ending) : folder_(place.folder), table_(place.path(ending)) {}

  /// Writes an image to a path in the data set's folder, and its row.
  void add(const std::string& path, std::span<const uint8_t> image, std::span<const std::string> row);
  /// Brings all to disk. The sum is one over the images and the rows.
  FileSum commit();

 private:
  const std::string folder_;
  SummedFile table_;
  Sha256 images_;
  uint64_t bytes_ = 0;
};

/// Makes the table of these columns of the parts of all shards of these splits. `splits` as for ContainerEntry::join.
void joinTables(std::span<const ShardPlace> splits, std::string_view ending, const std::string& path,
                std::span<const std::string> columns);

}  // namespace tandem
