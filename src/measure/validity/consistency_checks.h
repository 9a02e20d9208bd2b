#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/record/record.h"

namespace tandem {

/// A row of the table of consistency checks. It checks a finished run's record for contradictions, and for tools that
/// change times, such as a debugger. An empty text means no doubt.
struct ConsistencyCheck {
  std::string_view name;  ///< as shown beside a number
  std::string (*of)(const RunRecord&);
};

std::span<const ConsistencyCheck> consistencyChecks();

/// The findings of the consistency checks, each as "name: text". Empty for a run that did not finish.
std::vector<std::string> doubts(const RunRecord& record);

/// A quotable number was measured, not disturbed, and is beyond doubt.
bool isQuotable(const RunRecord& record);

/// Quotable, or measured with --allow-interference, which takes a run as it is.
bool isAccepted(const RunRecord& record);

/// What disturbed a finished run and what it is in doubt for: "other programs used ...; window too short: ...". Empty
/// if it is quotable.
std::string whyNotQuotable(const RunRecord& record);

}  // namespace tandem
