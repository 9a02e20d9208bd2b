#pragma once

#include <string>

namespace tandem {

/// The folder of `path`; "." if it names none.
std::string folderOf(const std::string& path);

/// Free space in the folder of `path` for messages: "12.3 GiB", or "unknown".
std::string freeSpaceText(const std::string& path);

}  // namespace tandem
