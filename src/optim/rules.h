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

/// PyTorch's RMSprop (kernels/optimizer/rmsprop.h).
std::unique_ptr<Optimizer> makeRmsprop(FlatBuffers& buffers, const OptimizerOptions& options);
std::unique_ptr<Optimizer> makeRmspropReference(FlatBuffers& buffers, const OptimizerOptions& options);
std::string rmspropCoefficients(const OptimizerOptions& options);

/// LARS (You et al. 2017, "Large batch training of convolutional networks"; so in MLPerf):
///   ratio = trust |w| / (|g| + weightDecay |w| + 1e-8), or 1 where a norm is 0
///   v = momentum v + rate ratio (g + weightDecay w);  w -= v
/// Parameters without weight decay have ratio 1. Where the rate does not change that is timm's Lars too.
std::unique_ptr<Optimizer> makeLars(FlatBuffers& buffers, const OptimizerOptions& options);
std::unique_ptr<Optimizer> makeLarsReference(FlatBuffers& buffers, const OptimizerOptions& options);
std::string larsCoefficients(const OptimizerOptions& options);

/// LAMB (You et al. 2019, "Large batch optimization for deep learning"; so in timm, without clipping):
///   u = Adam's direction + weightDecay w;  w -= rate ratio u, ratio = |w| / |u|, or 1 where a norm is 0
/// Parameters without weight decay have ratio 1.
std::unique_ptr<Optimizer> makeLamb(FlatBuffers& buffers, const OptimizerOptions& options);
std::unique_ptr<Optimizer> makeLambReference(FlatBuffers& buffers, const OptimizerOptions& options);

}  // namespace tandem
