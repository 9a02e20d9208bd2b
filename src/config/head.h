#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/config.h"

namespace tandem {

/// A parsed value of --head. The catalog of losses knows the valid kinds.
struct HeadText {
  int64_t outputs = 0;  ///< 0: not given
  std::string kind;
};

/// Parses "sigmoid" or "14xsigmoid". Empty for a text of another form and for 0 outputs.
std::optional<HeadText> parseHead(std::string_view text);

/// REQUIRES: the option has been checked.
HeadText headOf(const Config& config);

}  // namespace tandem
