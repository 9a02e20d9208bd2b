#pragma once

#include <string>

namespace tandem {

/// Lines for people, on standard error; what belongs in a result goes into the record instead.
void logInfo(const std::string& text);
void logWarning(const std::string& text);
void logError(const std::string& text);

}  // namespace tandem
