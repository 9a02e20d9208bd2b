// Twin of frontend/execution_plans.cpp for builds without CUDA or without cuDNN's frontend.
#include "kernels/cudnn/conv_problem.h"
#include "kernels/cudnn/norm_problem.h"

namespace tandem {

std::unique_ptr<ExecutionPlans> cudnnConvPlans(const ConvolutionProblem&) { return nullptr; }

std::unique_ptr<ExecutionPlans> cudnnNormPlans(const NormProblem&) { return nullptr; }

std::string cudnnVersions() { return {}; }

}  // namespace tandem
