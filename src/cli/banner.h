#pragma once

#include <string>

#include "measure/record/environment.h"

namespace tandem {

/// The banner of `tandem bench`: the facts of this machine, one line each.
std::string bannerText(const Environment& environment);

}  // namespace tandem
