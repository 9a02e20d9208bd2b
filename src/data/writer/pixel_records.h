#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "data/writer/container.h"

namespace tandem {

/// Shards of records of one size, for containers of pixels whose files are made when all records are there.
constexpr std::string_view recordsEnding = ".records";

/// Writes the samples of a shard as what `recordOf` makes of each.
using RecordOf = std::vector<uint8_t> (*)(const DatasetInfo& info, const WrittenSample& sample);
std::unique_ptr<ShardWriter> recordWriter(const ShardPlace& place, RecordOf recordOf);

/// The records of all shards of a split. `place`: of any of them. Members throw DataError for a shard that cannot be
/// read.
class PixelRecords {
 public:
  PixelRecords(const ShardPlace& place, int64_t recordBytes);

  int64_t size() const { return size_; }
  /// Gives each record, in order.
  void read(const std::function<void(std::span<const uint8_t> record)>& take) const;

 private:
  std::vector<std::string> paths_;
  int64_t recordBytes_, size_ = 0;
};

/// What a container with places for training images and one other split cannot hold, and what to do; empty: nothing.
std::string twoSplitsBreach(std::span<const NewSplit> splits);

/// The same of one with at most so many classes.
std::string classesBreach(const DatasetInfo& info, int64_t most);

/// The one class of a sample.
uint8_t classByte(const DatasetInfo& info, const WrittenSample& sample);

}  // namespace tandem
