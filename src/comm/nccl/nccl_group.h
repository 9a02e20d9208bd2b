#pragma once

#include <memory>
#include <vector>

#include "comm/group.h"

namespace tandem {

/// One NCCL communicator per replica, operations on a stream of their own beside the compute stream.
///
/// Throws UsageError when a device is no GPU or is given twice (NCCL's rule), or when this build has no CUDA; an error
/// of NCCL becomes PeerError with its text.
std::vector<std::unique_ptr<Group>> makeNcclGroups(const GroupOptions& options);

}  // namespace tandem
