#pragma once

#include <string>

namespace tandem {

/// Current time in UTC, ISO 8601: "2026-01-31T12:00:00Z".
std::string utcTime();

}  // namespace tandem
