#pragma once

#include "config/config.h"

namespace tandem {

/// Four small images for three linear layers, on any machine.
inline Config tiny() {
  Config config;
  config.model = "trivial";
  config.imageSize = 32;
  config.batch = 4;
  config.oversubscribe = true;
  return config;
}

}  // namespace tandem
