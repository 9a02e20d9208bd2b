#pragma once

#include <nlohmann/json_fwd.hpp>

#include "config/config.h"

namespace tandem {

/// Object with one member per row of the option table, named like the option; a named value is its name. fromJson
/// throws DataError on an unknown member or a value of the wrong type, and leaves absent members at their default.
nlohmann::json toJson(const Config&);
Config configFromJson(const nlohmann::json&);

}  // namespace tandem
