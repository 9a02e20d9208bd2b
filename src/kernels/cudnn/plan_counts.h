#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tandem {

/// What cuDNN answered to problems, by kind of operation: a refusal of all of a kind would otherwise only be seen as
/// slowness.
class PlanCounts {
 public:
  /// One problem; `refusal`: why cuDNN has no plan, else empty.
  void add(const std::string& kind, int64_t plans, const std::string& refusal);

  /// A line for each kind, and forgets them: "cuDNN: convolution: 412 plans for 23 problems, none for 3 of them (the
  /// first: REASON)".
  std::vector<std::string> take();

 private:
  struct Count {
    int64_t problems = 0, plans = 0, refused = 0;
    std::string reason;
  };
  std::map<std::string, Count> kinds_;
};

}  // namespace tandem
