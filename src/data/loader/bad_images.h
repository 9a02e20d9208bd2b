#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/mutex.h"

namespace tandem {

/// The images of a run that could not be read, and what becomes of them. Thread-safe.
class BadImages {
 public:
  struct Policy {
    bool blackened = false;  ///< whether a black one takes its place, if its label is valid; else the next good one
    int64_t most = 0;        ///< more of them end the run
  };
  explicit BadImages(const Policy& policy) : policy_(policy) {}

  bool blackened() const { return policy_.blackened; }

  /// From now on each image that is noted for the first time is handed on, before it may be one too many. Before the
  /// first note.
  void tell(std::function<void(int64_t index, const std::string& reason)> told) { told_ = std::move(told); }

  /// Notes an image, once however often it is met. Throws DataError if there are now more than the policy allows.
  void note(int64_t index, const DataError& failure);

  /// "2 images could not be read, the next ones took their place: REASON; REASON", with three reasons at most; empty:
  /// all could.
  std::string text() const;

 private:
  const Policy policy_;
  std::function<void(int64_t index, const std::string& reason)> told_;
  mutable Mutex mutex_;
  std::map<int64_t, std::string> reasons_ TANDEM_GUARDED_BY(mutex_);  // by index in the data set
};

}  // namespace tandem
