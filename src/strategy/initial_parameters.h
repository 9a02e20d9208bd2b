#pragma once

#include "comm/group.h"
#include "device/flat_buffers.h"

namespace tandem {

/// Collective: the masters of replica 0 become everybody's, and the weights follow.
void broadcastParameters(Group& group, FlatBuffers& buffers);

}  // namespace tandem
