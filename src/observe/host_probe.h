#pragma once

#include <memory>
#include <string>
#include <vector>

#include "observe/probe.h"

namespace tandem {

/// Use of each of `cpus` by all programs (%), resident memory of this process (MiB), and where the system lets
/// it be read the power of the processors by RAPL (W). `root` is prepended to /proc and /sys (tests).
std::unique_ptr<Probe> hostProbe(std::vector<int> cpus, const std::string& root = "");

}  // namespace tandem
