#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/record/record.h"

namespace tandem {

/// A row of the table of consistencyChecks: what a record of a finished run must agree with itself in, and what must
/// not have been between the program and the measurement. Empty: nothing speaks against the record.
struct ConsistencyCheck {
  std::string_view name;  ///< as it stands beside a number
  std::string (*of)(const RunRecord&);
};

std::span<const ConsistencyCheck> consistencyChecks();

/// What the consistencyChecks find, in words, each behind its name and a colon; nothing of a run that did not finish.
std::vector<std::string> doubts(const RunRecord& record);

/// A number that may be quoted: measured, not disturbed, and beyond doubt.
bool isQuotable(const RunRecord& record);

}  // namespace tandem
