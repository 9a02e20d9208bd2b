#pragma once

#include "optim/optimizer.h"

namespace tandem {

// The functions in the rows of optimizers().

/// PyTorch's SGD with momentum, Nesterov and weight decay (kernels/optimizer/sgd.h).
std::unique_ptr<Optimizer> makeSgd(FlatBuffers& buffers, const OptimizerOptions& options);
std::unique_ptr<Optimizer> makeSgdReference(FlatBuffers& buffers, const OptimizerOptions& options);
std::string sgdCoefficients(const OptimizerOptions& options);

/// PyTorch's Adam and AdamW (kernels/optimizer/adam.h). Adam adds weight decay to the gradient, AdamW applies it apart.
std::unique_ptr<Optimizer> makeAdam(FlatBuffers& buffers, const OptimizerOptions& options);
std::unique_ptr<Optimizer> makeAdamW(FlatBuffers& buffers, const OptimizerOptions& options);
std::unique_ptr<Optimizer> makeAdamReference(FlatBuffers& buffers, const OptimizerOptions& options);
std::unique_ptr<Optimizer> makeAdamWReference(FlatBuffers& buffers, const OptimizerOptions& options);
std::string adamCoefficients(const OptimizerOptions& options);

}  // namespace tandem
