#pragma once

#include <string>
#include <vector>

#include "measure/profile/gpu_timeline.h"
#include "report/tables/result_table.h"

namespace tandem {

/// What the first device of a profile did in a step: its kernels and copies, the operations of the plan that they ran
/// for, with what both achieve of the device's peaks, and its gaps; all devices are in the notes. None where nothing is
/// known of a device. Titles end with `of`.
std::vector<ResultTable> kernelTables(const DeviceProfile& profile, const std::string& of);

}  // namespace tandem
