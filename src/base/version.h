#pragma once

#include <string>

namespace tandem {

struct Version {
  std::string number;  ///< of the project: "0.1.0"
  std::string commit;  ///< full hash, or "unknown"
  bool dirty;          ///< built from a tree with uncommitted changes
};

/// The version of this build.
Version version();

}  // namespace tandem
