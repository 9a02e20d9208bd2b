#pragma once

#include <string>

namespace tandem {

/// The folder that holds `path`, "." where it names none.
std::string folderOf(const std::string& path);

/// What a message says is free in the folder of `path`: "12.3 GiB", or "unknown".
std::string freeSpaceText(const std::string& path);

}  // namespace tandem
