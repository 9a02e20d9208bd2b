#pragma once

#include <string_view>

#include "config/config.h"

namespace tandem {

/// The option by which nothing is trained, for messages. REQUIRES: forwardOnly.
inline std::string_view optionWithoutTraining(const Config::Step& step) {
  return step.loaderOnly ? "--loader-only" : "--forward-only";
}

}  // namespace tandem
