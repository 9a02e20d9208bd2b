#pragma once

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "data/dataset/dataset.h"
#include "data/transform/normalizations.h"

namespace tandem {

/// The files of one split, in the order of their names.
struct ShardList {
  DatasetInfo info;  ///< without the number of classes, which no file says
  std::vector<std::string> paths;
};

/// What the files of a kind of data set are called.
struct ShardNames {
  std::string_view kind;  ///< the data set's name
  bool (*isShard)(std::string_view file);
  std::string_view inFolder;  ///< a folder with this file counts as a shard, which is the file; empty: none does
};

/// The shards of a folder, or one shard that `path` names. Those of a split are named by its words in the catalog, at
/// the beginning or between hyphens, points or underscores. If none is of training, all are of each split. None: there
/// is no shard. Throws MissingSplit.
std::optional<ShardList> listShards(const std::string& path, DataSplit split, const ShardNames& names);

/// The samples of several files, numbered one file after the other. `Shard` is what is known of a file: a vector of its
/// samples' places, or more, with a size() as that.
template <class Shard>
class ShardIndex {
 public:
  /// Indexes the files in parallel. `indexOf` throws DataError that names file and byte.
  ShardIndex(std::vector<std::string> paths, Shard (*indexOf)(const std::string& path))
      : paths_(std::move(paths)), shards_(paths_.size()) {
    at::parallel_for(0, std::ssize(paths_), 1, [&](int64_t begin, int64_t end) {
      for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) shards_[i] = indexOf(paths_[i]);
    });
    for (const Shard& shard : shards_) ends_.push_back(size() + std::ssize(shard));
  }

  int64_t size() const { return ends_.empty() ? 0 : ends_.back(); }

  struct At {
    const std::string& path;
    const Shard& shard;
    size_t number;  ///< of the sample in the file, from 0
  };
  /// REQUIRES: index < size().
  At at(int64_t index) const {
    const auto file = static_cast<size_t>(std::ranges::upper_bound(ends_, index) - ends_.begin());
    const int64_t number = index - (file == 0 ? 0 : ends_[file - 1]);
    return {paths_[file], shards_[file], static_cast<size_t>(number)};
  }

  std::span<const Shard> shards() const { return shards_; }
  std::span<const int64_t> ends() const { return ends_; }

 private:
  const std::vector<std::string> paths_;
  std::vector<Shard> shards_;  // of each file
  std::vector<int64_t> ends_;  // number of samples in the files up to each
};

/// Image files, or pixels, of several files. What a file is indexed by is a Shard. A file is opened anew for each
/// sample: there may be more of them than a process may have open.
template <class Shard>
class ShardedDataset : public Dataset {
 public:
  const DatasetInfo& info() const override { return info_; }
  int64_t size() const override { return samples_.size(); }
  std::span<const int64_t> shardEnds() const override { return samples_.ends(); }

 protected:
  /// `samples`: what none of the files has, where there is no sample: "TFRecord files has a record". Throws DataError
  /// there.
  ShardedDataset(const ShardList& list, Shard (*indexOf)(const std::string& path), std::string_view samples)
      : info_(list.info), samples_(list.paths, indexOf) {
    info_.normalization = usualNormalization();
    if (size() == 0) throw DataError(concat(list.paths.front(), ": none of the ", samples));
  }

  DatasetInfo info_;
  const ShardIndex<Shard> samples_;
};

}  // namespace tandem
