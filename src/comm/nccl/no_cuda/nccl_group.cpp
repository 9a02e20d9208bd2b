#include "comm/nccl/nccl_group.h"

#include "base/error.h"

namespace tandem {

std::vector<std::unique_ptr<Group>> makeNcclGroups(const GroupOptions&) {
  throw UsageError(
      "--all-reduce=nccl: this build has no CUDA; NCCL exchanges between GPUs only; 'tandem list all-reduces' has "
      "others, or build the preset 'cuda'");
}

}  // namespace tandem
