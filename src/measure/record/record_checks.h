#pragma once

#include "measure/record/record.h"

namespace tandem {

/// Throws DataError if a part of a record that was read does not fit the others: numbers by which tables divide, and
/// columns of unequal lengths.
void checkParts(const RunRecord& record);

}  // namespace tandem
