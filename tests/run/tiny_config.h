#pragma once

#include "config/config.h"

namespace tandem {

/// Four small images for three linear layers, on any machine.
inline Config tinyConfig() {
  Config config;
  config.network.model = "trivial";
  config.network.imageSize = 32;
  config.step.batch = 4;
  config.placement.oversubscribe = true;
  config.measurement.verify = "off";  // a process of tests is old enough for any comparison
  return config;
}

}  // namespace tandem
