#include "strategy/milestone.h"

#include <c10/core/Event.h>

namespace tandem {

void Milestone::synchronize() const {
  if (event_) event_->synchronize();
}

}  // namespace tandem
