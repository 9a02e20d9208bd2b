#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/dataset/dataset.h"

namespace tandem {

/// The files of one split, in the order of their names.
struct ShardList {
  DatasetInfo info;  ///< without the number of classes, which no file says
  std::vector<std::string> paths;
};

/// The files of a folder whose names `isShard` accepts. Those of a split are named by train, or by validation, val or
/// test, at the beginning or between hyphens, points or underscores. If none is named by train, all are of each split.
/// None: there is no such file. `kind`: the data set's name. Throws DataError where the split has no file.
std::optional<ShardList> listShards(const std::string& folder, DataSplit split, bool (*isShard)(std::string_view name),
                                    std::string_view kind);

/// Numbers the samples of several files, one file after the other.
class ShardedSamples {
 public:
  /// The samples of the next file.
  void add(int64_t count) { ends_.push_back(size() + count); }
  int64_t size() const { return ends_.empty() ? 0 : ends_.back(); }
  /// The file of a sample, and its number there. REQUIRES: index < size().
  std::pair<size_t, size_t> at(int64_t index) const;

 private:
  std::vector<int64_t> ends_;
};

}  // namespace tandem
