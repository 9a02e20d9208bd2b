#pragma once

#include "models/onnx/importer.h"

namespace tandem::onnx {

/// A product of two tensors that depend on the images: queries with keys, or the weights of attention with values. The
/// second becomes a node `attention` in place of the linear layers that made queries, keys and values. Throws
/// UsageError for other products.
void attention(Call& call);

}  // namespace tandem::onnx
