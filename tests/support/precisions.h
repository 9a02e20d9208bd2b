#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

#include "device/precision.h"

namespace tandem {

/// The rows that suites can train in here.
inline std::vector<Precision> precisionsOnCpu() {
  std::vector<Precision> found;
  std::ranges::copy_if(precisions(), std::back_inserter(found), &Precision::onCpu);
  return found;
}

/// How far rounding to the type moves a value, of itself.
inline double unitOf(at::ScalarType type) {
  return type == at::kFloat ? 0x1p-24 : type == at::kHalf ? 0x1p-12 : 0x1p-9;
}

}  // namespace tandem
