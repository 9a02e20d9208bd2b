#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tandem {

/// A row of the catalog of losses: what a network's outputs are trained for. The engine holds the matching computation
/// by name.
struct TaskLoss {
  std::string_view name;
  std::string_view head;  ///< what --head calls it, for losses of [N, classes]; empty: only a network itself names it
  int64_t leastClasses;
  std::string_view summary;
};

/// The catalog; the first row is that of a network that names none.
std::span<const TaskLoss> taskLosses();

/// The row of --head=`head`. Throws UsageError that lists the heads there are.
const TaskLoss& lossOfHead(std::string_view head);

}  // namespace tandem
