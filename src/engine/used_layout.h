#pragma once

#include <string>

#include "device/layout.h"
#include "engine/plan.h"

namespace tandem {

/// What a configuration's --layout=auto came to.
struct UsedLayout {
  const LayoutEntry* layout = nullptr;
  std::string note;  ///< why, where it was measured
};

/// --layout, or for "auto" what fastestLayout() finds on the first replica's cores: the measurements are kept in the
/// cache folder. Where there is nothing to choose (a GPU, another executor, a build without oneDNN), and with
/// --deterministic, "auto" means nhwc.
UsedLayout usedLayout(const RunPlan& plan, const Graph& graph);

}  // namespace tandem
