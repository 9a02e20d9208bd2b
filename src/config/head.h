#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/config.h"

namespace tandem {

/// What --head says. Which kinds there are is known to the catalog of losses.
struct HeadText {
  int64_t outputs = 0;  ///< 0: not said
  std::string kind;
};

/// "sigmoid", "14xsigmoid"; empty for a text of another form or 0 outputs.
std::optional<HeadText> parseHead(std::string_view text);

/// REQUIRES: the option was checked.
HeadText headOf(const Config& config);

}  // namespace tandem
