#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tandem {

/// A reader of foreign bytes, fed with anything: it must return, and what it accepts must keep its promises; a broken
/// one aborts the process.
struct FuzzTarget {
  std::string_view name;  ///< also of its folder of seeds in tests/fuzz/corpus
  void (*run)(std::span<const uint8_t> bytes);
};

std::span<const FuzzTarget> fuzzTargets();

}  // namespace tandem
