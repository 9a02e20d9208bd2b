#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "kernels/norm/statistics_exchange.h"
#include "kernels/pool/max_pool.h"

namespace tandem {

/// The arguments of one node's ATen call.
struct OperationArguments {
  const Attributes& attributes;
  std::vector<at::Tensor> inputs;      ///< [N, C, H, W], or [N, C] after flatten and pooling to a vector
  at::Tensor weight, bias;             ///< undefined if the operation has none
  at::Tensor runningMean, runningVar;  ///< [C] fp32, batch_norm only
  bool training = true;
  bool mayOverwrite = false;  ///< nobody else reads the first input, and no backward needs it
  at::Generator* generator = nullptr;
  StatisticsExchange* statistics = nullptr;  ///< batch_norm only: ExecutorOptions::statistics
};

using AtenOp = at::Tensor (*)(OperationArguments&);

/// The ATen call of an operation of the graph's catalog. Throws InternalError for one without a call.
AtenOp atenOp(std::string_view operation);

/// Whether the backward pass of `operation` does not read its output, so that a consumer may overwrite it.
bool outputMayBeOverwritten(std::string_view operation);

/// Whether the call draws from the generator.
bool drawsNumbers(std::string_view operation);

/// The windows of a max_pool or avg_pool.
PoolWindow poolWindow(const Attributes& attributes);

}  // namespace tandem
