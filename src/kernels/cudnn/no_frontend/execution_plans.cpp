// Twin of frontend/execution_plans.cpp for builds without CUDA or without cuDNN's frontend.
#include "kernels/cudnn/conv_problem.h"
#include "kernels/cudnn/norm_problem.h"

namespace tandem {

std::shared_ptr<ExecutionPlans> cudnnConvPlans(const ConvolutionProblem&) { return nullptr; }

std::shared_ptr<ExecutionPlans> cudnnNormPlans(const NormProblem&) { return nullptr; }

std::vector<std::string> planNotes() { return {}; }

std::string cudnnVersions() { return {}; }

}  // namespace tandem
