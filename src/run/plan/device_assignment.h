#pragma once

namespace tandem {

struct RunPlan;

/// Fills the plan's cores or GPUs, its device labels and available memory. Throws UsageError when the machine does not
/// have them. Creates no CUDA context. REQUIRES: the plan's configuration is resolved.
void resolveDevices(RunPlan& plan);

}  // namespace tandem
