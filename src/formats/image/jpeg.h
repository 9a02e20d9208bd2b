#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "formats/image/image.h"

namespace tandem {

/// What both readers of JPEGs refuse: colours that are not read, and more scans than the limit.
ParseError cmykRefusal();
std::optional<std::string> scansFault(std::span<const uint8_t> bytes, const ImageLimits& limits);

}  // namespace tandem
