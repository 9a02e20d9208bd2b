#pragma once

#include <map>
#include <memory>
#include <string>

#include "kernels/cudnn/execution_plans.h"

namespace tandem {

/// The plans of a problem that somebody on this thread holds, or what `make` returns. Layers alike then share them:
/// cuDNN is asked once, and each plan is built once, which may compile it.
template <class Make>
std::shared_ptr<ExecutionPlans> sharedPlans(const std::string& problem, const Make& make) {
  thread_local std::map<std::string, std::weak_ptr<ExecutionPlans>> held;
  std::weak_ptr<ExecutionPlans>& place = held[problem];
  if (auto plans = place.lock()) return plans;
  std::shared_ptr<ExecutionPlans> plans = make();
  place = plans;
  return plans;
}

}  // namespace tandem
