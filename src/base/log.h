#pragma once

#include <string>

namespace tandem {

/// Writes a line for people to standard error. Results do not belong here, but in the record.
void logInfo(const std::string& text);
void logWarning(const std::string& text);
void logError(const std::string& text);

}  // namespace tandem
