#pragma once

#include <cstdint>

namespace tandem {

struct RunPlan;

/// Fills the plan's cores or GPUs, its device labels and RunPlan::availableBytes. Throws UsageError when the machine
/// does not have them. Creates no CUDA context. REQUIRES: the plan's configuration is resolved.
void resolveDevices(RunPlan& plan);

/// The bytes that are free now on the host, or on the GPU of the plan that has least. REQUIRES: devices are resolved.
int64_t availableBytesNow(const RunPlan& plan);

}  // namespace tandem
