#include "data/dataset/shards.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/text.h"

namespace tandem {

namespace {

/// Whether a name begins with the word, or has it between hyphens, points or underscores.
bool says(std::string_view name, std::string_view word) {
  constexpr std::string_view between = "-._";
  for (size_t at = name.find(word); at != std::string_view::npos; at = name.find(word, at + 1)) {
    if (at == 0) return true;
    const size_t end = at + word.size();
    const bool ends = end == name.size() || between.find(name[end]) != std::string_view::npos;
    if (ends && between.find(name[at - 1]) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

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
    if (says(name, "train")) training.push_back(path);
    if (says(name, "val") || says(name, "validation") || says(name, "test")) test.push_back(path);
  }
  if (all.empty()) return std::nullopt;
  ShardList list;
  list.info.name = kind;
  list.paths = training.empty() ? all : split == DataSplit::training ? training : test;
  if (list.paths.empty()) {
    throw DataError(concat("data folder '", folder, "' has ", kind,
                           " files of training images alone; name those of test images by validation, val or test"));
  }
  std::ranges::sort(list.paths);
  return list;
}

}  // namespace tandem
