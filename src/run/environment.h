#pragma once

#include <map>
#include <string>

#include "measure/record/environment.h"

namespace tandem {

/// Reads the facts of this host, its devices and libraries. Creates no tensor and no CUDA context.
Environment readEnvironment();

/// Name -> version of the libraries that do the work: libtorch, oneDNN, hwloc, glibc, with CUDA its own.
std::map<std::string, std::string> libraryVersions();

}  // namespace tandem
