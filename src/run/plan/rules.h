#pragma once

#include "run/plan/plan.h"

namespace tandem {

/// Checks that the rows of a configuration work together and on its kind of device. Throws UsageError with the first
/// rule that is broken. The result does not depend on the machine.
void checkSetup(const Config& config, const Setup& setup);

/// The part of checkSetup() on processes and what goes between them.
void checkRanks(const Config& config, const Setup& setup);

/// The part on optimizer, schedule and what else makes an update.
void checkUpdate(const Config& config, const Setup& setup);

/// The part on batches from outside.
void checkStream(const Config& config, const Setup& setup);

/// Checks a plan whose devices, batch, data and graph are resolved. Throws UsageError with the first rule that is
/// broken.
void checkPlan(const RunPlan& plan);

}  // namespace tandem
