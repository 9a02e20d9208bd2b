#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/option.h"

namespace tandem {

/// A catalog in `tandem list`.
struct Catalog {
  std::string_view name;
  std::string_view option;  ///< the option that takes these names; empty: none
  std::vector<std::string> (*names)();
  nlohmann::ordered_json (*rows)();  ///< an array of objects with name, summary and the catalog's further fields
};

/// All catalogs, in the order of `tandem list`.
std::span<const Catalog> catalogs();

/// The valid names of every option that takes names. They are the same in every build, so that the generated reference
/// is too. A name that a build cannot run (nccl without CUDA) is refused when a point is resolved.
CatalogNames catalogNames();

}  // namespace tandem
