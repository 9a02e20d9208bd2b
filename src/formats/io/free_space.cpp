#include "formats/io/free_space.h"

#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "base/text.h"

namespace tandem {

std::string folderOf(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

std::string freeSpaceText(const std::string& path) {
  std::error_code unknown;
  const auto space = std::filesystem::space(folderOf(path), unknown);
  return unknown ? "unknown" : bytesText(static_cast<double>(space.available));
}

void throwStorageError(std::string_view action, const std::string& path, std::string_view reason) {
  throw StorageError(concat("cannot ", action, " '", path, "': ", reason, " (free there: ", freeSpaceText(path),
                            "); choose another place"));
}

}  // namespace tandem
