#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace tandem {

/// What one node's ATen call reads.
struct OperationArguments {
  const Attributes& attributes;
  std::vector<at::Tensor> inputs;      ///< [N, C, H, W], or [N, C] after flatten and pooling to a vector
  at::Tensor weight, bias;             ///< undefined where the operation has none
  at::Tensor runningMean, runningVar;  ///< [C] fp32, batch_norm only
  bool training = true;
  bool mayOverwrite = false;  ///< the first input is read by nobody else and needed by no backward
  at::Generator* generator = nullptr;
};

using AtenOp = at::Tensor (*)(OperationArguments&);

/// The ATen call of an operation of the graph's catalog. Throws InternalError for one without a call.
AtenOp atenOp(std::string_view operation);

/// True when the backward pass of `operation` does not read its output, so that a consumer may overwrite it.
bool outputMayBeOverwritten(std::string_view operation);

/// True when the call draws from the generator.
bool drawsNumbers(std::string_view operation);

/// True when the call keeps for backward which pixel of each window it took, 8 bytes per value of its output.
bool keepsPlaces(std::string_view operation);

}  // namespace tandem
