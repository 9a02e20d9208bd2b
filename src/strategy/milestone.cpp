#include "strategy/milestone.h"

#include <c10/core/Event.h>

namespace tandem {

void Milestone::synchronize(int64_t value) const {
  const Event& event = events_[value % 2];
  if (event) event->synchronize();
}

}  // namespace tandem
