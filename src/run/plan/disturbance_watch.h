#pragma once

#include <string>
#include <vector>

#include "measure/validity/interference.h"

namespace tandem {

/// Looks at what else uses the CPUs on which kernels are measured. The signs and limits are those of a run's measured
/// window. In less than a second the shares of CPU time are not known, and nothing is said of them.
class DisturbanceWatch {
 public:
  explicit DisturbanceWatch(std::vector<int> cpus);

  /// What disturbed the time since the last call, or since this was made: a sentence for each sign above its limit.
  std::vector<std::string> take();

 private:
  std::vector<int> cpus_;
  SystemCounters begin_;
};

}  // namespace tandem
