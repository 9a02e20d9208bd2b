#pragma once

#include <memory>
#include <string>
#include <vector>

#include "observe/probe.h"

namespace tandem {

/// Reads the use of each of `cpus` by all programs (%) and the resident memory of `processes` together (MiB). Reads the
/// power of the processors by RAPL (W) if the system allows it. `root` is prepended to /proc and /sys (tests).
std::unique_ptr<Probe> hostProbe(std::vector<int> cpus, std::vector<int> processes, const std::string& root = "");

}  // namespace tandem
