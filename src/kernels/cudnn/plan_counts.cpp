#include "kernels/cudnn/plan_counts.h"

#include <utility>

#include "base/text.h"

namespace tandem {

void PlanCounts::add(const std::string& kind, int64_t plans, const std::string& refusal) {
  Count& count = kinds_[kind];
  if (!refusal.empty() && count.refused++ == 0) count.reason = refusal;
  ++count.problems;
  count.plans += plans;
}

std::vector<std::string> PlanCounts::take() {
  std::vector<std::string> lines;
  for (const auto& [kind, count] : std::exchange(kinds_, {})) {
    std::string line = concat("cuDNN: ", kind, ": ", count.plans, " plans for ", count.problems, " problems");
    if (count.refused > 0) line += concat(", none for ", count.refused, " of them (the first: ", count.reason, ')');
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace tandem
