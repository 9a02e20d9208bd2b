#pragma once

#include <string>

#include "measure/record/environment.h"

namespace tandem {

/// What was found on this machine, one line per fact.
std::string bannerText(const Environment& environment);

}  // namespace tandem
