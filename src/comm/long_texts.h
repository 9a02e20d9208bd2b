#pragma once

#include <string>
#include <vector>

#include "comm/world.h"

namespace tandem {

/// As World::toFirst(), for texts of any length: a store takes a few MiB at once. Bytes may have any value.
std::vector<std::string> longTextsToFirst(World& world, const std::string& text);

}  // namespace tandem
