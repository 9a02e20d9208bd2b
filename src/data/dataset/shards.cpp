#include "data/dataset/shards.h"

#include <algorithm>
#include <filesystem>
#include <map>

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

bool says(std::string_view name, const DataSplitEntry& split) {
  return std::ranges::any_of(split.recognised, [&](std::string_view word) { return says(name, word); });
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
  list.info.sharded = true;
  if (const std::string shard = shardOf(path, names); !shard.empty()) {
    list.paths = {shard};
    return list;
  }
  std::vector<std::string> all;
  std::map<DataSplit, std::vector<std::string>> named;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    const std::string shard = shardOf(entry.path(), names), name = entry.path().filename().string();
    if (shard.empty()) continue;
    all.push_back(shard);
    for (const DataSplitEntry& row : dataSplits()) {
      if (says(name, row)) named[row.split].push_back(shard);
    }
  }
  if (all.empty()) return std::nullopt;
  if (named.contains(DataSplit::training)) {
    list.info.split = givenFor(split, [&](DataSplit each) { return named.contains(each); });
    if (!list.info.split) {
      throw MissingSplit(concat("data folder '", path, "' has ", names.kind,
                                " files of training images alone; name those of ", rowOf(split).name, " images by ",
                                wordsFor(split)));
    }
  }
  list.paths = list.info.split ? named.at(*list.info.split) : all;
  std::ranges::sort(list.paths);
  return list;
}

}  // namespace tandem
