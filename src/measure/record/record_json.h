#pragma once

#include <nlohmann/json_fwd.hpp>

#include "measure/record/record.h"

namespace tandem {

/// The stored form of a record; docs/METRICS.md lists the members. A value that was not measured is null. A number
/// that is not finite is null too and reads back as NaN. Any other value reads back bit-equal.
nlohmann::json toJson(const RunRecord&);

/// Throws DataError that names a member if it is missing or has the wrong type. Throws DataError if the schema is newer
/// than this program. Unknown members are ignored, because a later program may have added them.
RunRecord recordFromJson(const nlohmann::json&);

}  // namespace tandem
