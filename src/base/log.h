#pragma once

#include <functional>
#include <string>

namespace tandem {

/// Writes a line for people to standard error. Results do not belong here, but in the record. Any thread may call
/// these.
void logInfo(const std::string& text);
void logWarning(const std::string& text);  ///< once in the life of the process, however often the same is said
void logError(const std::string& text);

/// Hands later warnings to this function instead of writing them, each once again. Empty: writes them. The function may
/// be called on any thread, one call at a time.
void redirectWarnings(std::function<void(const std::string& text)> receiver);

}  // namespace tandem
