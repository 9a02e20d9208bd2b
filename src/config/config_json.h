#pragma once

#include <nlohmann/json_fwd.hpp>

#include "config/config.h"

namespace tandem {

/// An object with one member per row of the option table, named like the option. A named value is written as its name.
/// fromJson leaves absent members at their default. It throws DataError for an unknown member or a value of the wrong
/// type.
nlohmann::json toJson(const Config&);
Config configFromJson(const nlohmann::json&);

}  // namespace tandem
