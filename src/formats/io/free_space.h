#pragma once

#include <string>
#include <string_view>

namespace tandem {

/// The folder of `path`; "." if it names none.
std::string folderOf(const std::string& path);

/// Free space in the folder of `path` for messages: "12.3 GiB", or "unknown".
std::string freeSpaceText(const std::string& path);

/// Throws StorageError "cannot ACTION 'PATH': REASON (free there: 12.3 GiB); choose another place".
[[noreturn]] void throwStorageError(std::string_view action, const std::string& path, std::string_view reason);

}  // namespace tandem
