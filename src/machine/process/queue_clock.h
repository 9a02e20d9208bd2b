#pragma once

#include <optional>

#include "base/clock.h"

namespace tandem {

/// How long a thread was ready and waited for a CPU, over its life. (Linux's schedstat.) A stopped thread is not ready.
class QueueClock {
 public:
  /// Of the thread that calls. Any thread may use the object.
  QueueClock();
  ~QueueClock();
  QueueClock(const QueueClock&) = delete;
  QueueClock& operator=(const QueueClock&) = delete;

  /// Empty if this system does not say.
  std::optional<Nanos> waited() const;

 private:
  const int descriptor_;
};

}  // namespace tandem
