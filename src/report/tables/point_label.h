#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/option.h"
#include "measure/record/record.h"

namespace tandem {

/// The axis options in which the records differ, and always `replicas`, in the order of the option table.
std::vector<const Option*> differingOptions(std::span<const RunRecord> records);

/// The options that distinguish a record from the others: "replicas=2 strategy=replicated".
std::string pointLabel(const RunRecord& record, std::span<const Option* const> differing);

/// The axis options that all records share and that are not at their default: "--batch=128 --precision=bf16"; and
/// "synthetic images" where no record has a data set.
std::string sharedOptionsText(std::span<const RunRecord> records);

/// `text` with line ends and tabs replaced by blanks, so that it stays in its row. What else it holds a renderer
/// escapes.
std::string oneLine(std::string text);

/// The metric's value with its decimals, or with a power of ten. Empty if it has none.
std::string metricText(std::string_view name, const RunRecord& record, const RunRecord* baseline);

}  // namespace tandem
