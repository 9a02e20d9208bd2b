#include "data/loader/bad_images.h"

#include <vector>

#include "base/text.h"

namespace tandem {

void BadImages::note(int64_t index, const DataError& failure) {
  const MutexLock lock(mutex_);
  const bool isNew = reasons_.emplace(index, failure.what()).second;
  if (isNew && told_) told_(index, failure.what());
  if (std::ssize(reasons_) <= policy_.most) return;
  throw DataError(
      concat("more than ", policy_.most, " images cannot be read, as --max-bad allows; one is: ", failure.what()));
}

std::string BadImages::text() const {
  constexpr size_t mostShown = 3;
  const MutexLock lock(mutex_);
  if (reasons_.empty()) return {};
  std::vector<std::string> shown;
  for (const auto& [index, reason] : reasons_) {
    if (shown.size() < mostShown) shown.push_back(reason);
  }
  return concat(reasons_.size(), reasons_.size() == 1 ? " image" : " images", " could not be read, ",
                policy_.blackened ? "black ones" : "the next ones", " took their place: ", join(shown, "; "),
                shown.size() < reasons_.size() ? "; ..." : "");
}

}  // namespace tandem
