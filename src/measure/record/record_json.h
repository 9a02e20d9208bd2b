#pragma once

#include <nlohmann/json_fwd.hpp>

#include "measure/record/record.h"

namespace tandem {

/// The stored form of a record (docs/METRICS.md lists the members). Not measured is null; so is a number that is not
/// finite, which reads back as NaN. Anything else reads back bit-equal.
nlohmann::json toJson(const RunRecord&);

/// Throws DataError naming the member when one is missing or has the wrong type, or the schema is newer than this
/// program. Members that it does not know are ignored: a later program may have added them.
RunRecord recordFromJson(const nlohmann::json&);

}  // namespace tandem
