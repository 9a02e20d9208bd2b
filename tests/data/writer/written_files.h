#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "base/text.h"
#include "data/dataset/test_folder.h"
#include "formats/io/file.h"

namespace tandem {

/// The files of a folder, by their paths in it.
inline std::map<std::string, Bytes> filesIn(const std::string& folder) {
  std::map<std::string, Bytes> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    files.emplace(entry.path().lexically_relative(folder), readFile(entry.path(), 1 << 24));
  }
  return files;
}

inline std::string pathOf(const TestFolder& folder, std::string_view name) { return concat(folder.path(), '/', name); }

}  // namespace tandem
