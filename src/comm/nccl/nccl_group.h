#pragma once

#include <memory>
#include <vector>

#include "comm/group.h"

namespace tandem {

/// One NCCL communicator per replica, of those of all ranks. Its operations run on a stream of its own beside the
/// compute stream. Collective where there is a world.
///
/// Throws UsageError if a device is not a GPU or is given twice (NCCL's rule), and in a build without CUDA. Errors of
/// NCCL become PeerError with its text.
std::vector<std::unique_ptr<Group>> makeNcclGroups(const GroupOptions& options);

}  // namespace tandem
