#pragma once

#include "models/onnx/importer.h"

namespace tandem::onnx {

/// Items `begin`, `begin + step`, ... of dimension `d`, `count` of them. Throws UsageError where no node can take them.
Item partOf(Call& call, const Item& item, size_t d, int64_t begin, int64_t step, int64_t count);

}  // namespace tandem::onnx
