#pragma once

#include "comm/group.h"
#include "device/flat_buffers.h"

namespace tandem {

/// Collective: every replica's masters become those of replica 0, and its weights are rounded from them.
void broadcastParameters(Group& group, FlatBuffers& buffers);

}  // namespace tandem
