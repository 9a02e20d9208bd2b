#include "strategy/initial_parameters.h"

#include <ATen/ATen.h>

namespace tandem {

void broadcastParameters(Group& group, FlatBuffers& buffers) {
  for (int segment = 0; segment < buffers.segments(); ++segment) {
    group.wait(group.start(buffers.master(buffers.whole(segment)), Collective::broadcast));
  }
  buffers.refreshWeights();
}

}  // namespace tandem
