#pragma once

#include "config/option.h"

namespace tandem {

/// The valid names of every choice of the option table, from the catalogs. The same in every build, so that the
/// generated reference is too: what a build cannot run (nccl without CUDA) is refused when a point is resolved.
CatalogNames catalogNames();

}  // namespace tandem
