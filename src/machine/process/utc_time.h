#pragma once

#include <string>

namespace tandem {

/// Current time in UTC, ISO 8601: "2026-01-31T12:00:00Z".
std::string utcTime();

/// The same with milliseconds: "2026-01-31T12:00:00.250Z". Texts of this form are in the order of their times.
std::string exactUtcTime();

}  // namespace tandem
