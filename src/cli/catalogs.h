#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/option.h"

namespace tandem {

/// A row of `tandem list`, and the values of an option where it is one's.
struct Catalog {
  std::string_view name;
  std::string_view option;  ///< that takes these names; empty: none does
  std::vector<std::string> (*names)();
  nlohmann::ordered_json (*rows)();  ///< an array of objects with name and summary, and what else is known of a row
};

/// All catalogs, in the order of `tandem list`.
std::span<const Catalog> catalogs();

/// The valid names of every option that takes names. The same in every build, so that the generated reference is
/// too: what a build cannot run (nccl without CUDA) is refused when a point is resolved.
CatalogNames catalogNames();

}  // namespace tandem
