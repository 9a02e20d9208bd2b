#include <cstddef>
#include <string_view>

#include "fuzz/targets.h"

// What libFuzzer calls; TANDEM_FUZZ_TARGET is the name of a row of fuzzTargets().
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (const auto& target : tandem::fuzzTargets()) {
    if (target.name == std::string_view(TANDEM_FUZZ_TARGET)) target.run({data, size});
  }
  return 0;
}
