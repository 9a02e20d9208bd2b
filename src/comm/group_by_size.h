#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "comm/group.h"

namespace tandem {

/// One handle of a replica from its handles of several groups. Each operation runs in the group that its tensor's bytes
/// say: the first whose size it does not exceed, or the last. `upTo`: the sizes, growing, one less than groups.
std::unique_ptr<Group> groupBySize(std::vector<std::unique_ptr<Group>> groups, std::vector<int64_t> upTo);

}  // namespace tandem
