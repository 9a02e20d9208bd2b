#pragma once

#include <cstdlib>
#include <string>

namespace tandem {

/// The folder with the data of the tests: TANDEM_TESTS_DIR where a bundle runs (scripts/bundle), else that of the
/// sources.
inline std::string testsFolder() {
  const char* const moved = std::getenv("TANDEM_TESTS_DIR");
  return moved != nullptr ? moved : TANDEM_TESTS_DIR;
}

}  // namespace tandem
