#pragma once

#include <ATen/Parallel.h>

#include <algorithm>
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

/// Where the samples of several files lie. They are numbered one file after the other.
template <class Place>
class ShardIndex {
 public:
  /// Indexes the files in parallel. `indexOf` throws DataError that names file and byte.
  ShardIndex(std::vector<std::string> paths, std::vector<Place> (*indexOf)(const std::string& path))
      : paths_(std::move(paths)), places_(paths_.size()) {
    at::parallel_for(0, std::ssize(paths_), 1, [&](int64_t begin, int64_t end) {
      for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) places_[i] = indexOf(paths_[i]);
    });
    for (const auto& places : places_) ends_.push_back(size() + std::ssize(places));
  }

  int64_t size() const { return ends_.empty() ? 0 : ends_.back(); }

  struct At {
    const std::string& path;
    int64_t number;  ///< in the file, from 0
    const Place& place;
  };
  /// REQUIRES: index < size().
  At at(int64_t index) const {
    const auto file = static_cast<size_t>(std::ranges::upper_bound(ends_, index) - ends_.begin());
    const int64_t number = index - (file == 0 ? 0 : ends_[file - 1]);
    return {paths_[file], number, places_[file][static_cast<size_t>(number)]};
  }

 private:
  const std::vector<std::string> paths_;
  std::vector<std::vector<Place>> places_;  // of each file
  std::vector<int64_t> ends_;               // number of samples in the files up to each
};

}  // namespace tandem
