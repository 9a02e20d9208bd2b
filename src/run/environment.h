#pragma once

#include <map>
#include <string>

#include "measure/record/environment.h"

namespace tandem {

/// Reads the facts of this host, its devices, its libraries and this build. Creates no tensor and no CUDA context.
Environment readEnvironment();

/// Versions by name: libtorch, oneDNN, hwloc, glibc, and in a build with CUDA its libraries. "convolutions" and
/// "convolution-engines" name the libraries that compute convolutions, if the build has them.
std::map<std::string, std::string> libraryVersions();

}  // namespace tandem
