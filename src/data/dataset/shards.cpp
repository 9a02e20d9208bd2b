#include "data/dataset/shards.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/text.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

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

/// The file that an entry of a folder stands for; empty if it is no shard.
std::string shardOf(const fs::path& entry, const ShardNames& names) {
  std::error_code error;
  const fs::path inside = entry / names.inFolder;
  if (!names.inFolder.empty() && fs::is_regular_file(inside, error)) return inside.string();
  const bool isShard = names.isShard(entry.filename().string()) && fs::is_regular_file(entry, error);
  return isShard ? entry.string() : "";
}

}  // namespace

std::optional<ShardList> listShards(const std::string& path, DataSplit split, const ShardNames& names) {
  ShardList list;
  list.info.name = names.kind;
  if (const std::string shard = shardOf(path, names); !shard.empty()) {
    list.paths = {shard};
    return list;
  }
  std::vector<std::string> all, training, test;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    const std::string shard = shardOf(entry.path(), names), name = entry.path().filename().string();
    if (shard.empty()) continue;
    all.push_back(shard);
    if (says(name, "train")) training.push_back(shard);
    if (says(name, "val") || says(name, "validation") || says(name, "test")) test.push_back(shard);
  }
  if (all.empty()) return std::nullopt;
  list.paths = training.empty() ? all : split == DataSplit::training ? training : test;
  if (list.paths.empty()) {
    throw MissingSplit(concat("data folder '", path, "' has ", names.kind,
                              " files of training images alone; name those of test images by validation, val or test"));
  }
  std::ranges::sort(list.paths);
  return list;
}

}  // namespace tandem
