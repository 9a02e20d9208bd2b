#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/record/record.h"

namespace tandem {

/// The conclusion of a report.
struct Verdict {
  std::string finding;                 ///< one line without its line end
  std::string repeat;                  ///< the command that measures the fastest run again; empty if there is none
  const RunRecord* fastest = nullptr;  ///< one of the given runs
};

/// Why a run is not judged: the first that holds of "failed", "skipped", "not valid", "in doubt"
/// (measure/validity/consistency_checks.h) and "not steady". Empty if it is judged.
std::string_view shortcoming(const RunRecord& record);

struct ShortcomingCount {
  std::string_view name;
  size_t runs = 0;
};

/// Number of runs with each shortcoming, in the order of shortcoming()'s checks.
std::vector<ShortcomingCount> countShortcomings(std::span<const RunRecord>);

Verdict verdictOn(std::span<const RunRecord>);

/// "fastest: POINT, RATE images/s, 12.3 % ahead of POINT; repeat with: COMMAND", or why there is no fastest run. One
/// line without its line end. Says "not distinguishable from" if the 95 % intervals of the two fastest overlap.
std::string textOf(const Verdict& verdict);
std::string verdictText(std::span<const RunRecord>);  ///< text of verdictOn()'s verdict

}  // namespace tandem
