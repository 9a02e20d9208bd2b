#include "measure/metrics/step_times.h"

#include <algorithm>
#include <map>

namespace tandem {

std::vector<double> stepSeconds(const RunRecord& record) {
  std::map<int, size_t> stepsOf;
  std::vector<double> slowest;
  for (const StepSample& sample : record.steps) {
    const size_t step = stepsOf[sample.replica]++;
    if (step == slowest.size()) slowest.push_back(0);
    slowest[step] = std::max(slowest[step], seconds(sample.wall));
  }
  for (const auto& [replica, steps] : stepsOf) slowest.resize(std::min(slowest.size(), steps));
  return slowest;
}

}  // namespace tandem
