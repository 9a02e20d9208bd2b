#include "data/dataset/shards.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/text.h"

namespace tandem {

std::optional<ShardList> listShards(const std::string& folder, DataSplit split, bool (*isShard)(std::string_view name),
                                    std::string_view kind) {
  namespace fs = std::filesystem;
  std::vector<std::string> all, training, test;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!isShard(name) || !entry.is_regular_file(error)) continue;
    const std::string path = entry.path().string();
    all.push_back(path);
    if (name.starts_with("train")) training.push_back(path);
    if (name.starts_with("val") || name.starts_with("test")) test.push_back(path);
  }
  if (all.empty()) return std::nullopt;
  ShardList list;
  list.info.name = kind;
  list.paths = training.empty() ? all : split == DataSplit::training ? training : test;
  if (list.paths.empty()) {
    throw DataError(concat("data folder '", folder, "' has ", kind,
                           " files of training images alone; those of test images begin with validation, val or test"));
  }
  std::ranges::sort(list.paths);
  return list;
}

std::pair<size_t, size_t> ShardedSamples::at(int64_t index) const {
  const auto file = static_cast<size_t>(std::ranges::upper_bound(ends_, index) - ends_.begin());
  const int64_t before = file == 0 ? 0 : ends_[file - 1];
  return {file, static_cast<size_t>(index - before)};
}

}  // namespace tandem
