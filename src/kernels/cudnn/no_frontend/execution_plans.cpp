// Twin of cudnn_engines.cpp for builds without CUDA or without cuDNN's frontend.
#include "kernels/cudnn/conv_problem.h"
#include "kernels/cudnn/norm_problem.h"

namespace tandem {

std::unique_ptr<Engines> cudnnConvolution(const ConvolutionProblem&) { return nullptr; }

std::unique_ptr<Engines> cudnnNorm(const NormProblem&) { return nullptr; }

std::string engineLibrary() { return {}; }

}  // namespace tandem
