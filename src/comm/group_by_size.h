#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "comm/group.h"

namespace tandem {

/// One handle of a replica from its handles of several groups. Each operation runs in the group that its tensor's bytes
/// say: the first whose size it does not exceed, or the last. `upTo`: the sizes, growing, one less than groups.
std::unique_ptr<Group> groupBySize(std::vector<std::unique_ptr<Group>> groups, std::vector<int64_t> upTo);

/// The place of the first of growing sizes that `bytes` does not exceed; their number if it exceeds all.
inline size_t placeOfSize(std::span<const int64_t> upTo, int64_t bytes) {
  return static_cast<size_t>(std::ranges::lower_bound(upTo, bytes) - upTo.begin());
}

}  // namespace tandem
