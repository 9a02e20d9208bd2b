#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tandem {

/// A row of the catalog of losses, the part without tensors. train/ holds the matching computation by name.
struct TaskLoss {
  std::string_view name;
  std::string_view head;  ///< value of --head, for losses of [N, classes]; empty: only a network itself can choose it
  std::string_view form;  ///< value of --loss, for a head that has several; empty: its head has this one alone
  int64_t leastClasses;
  std::string_view summary;
};

/// The catalog. The first row is the default of networks that name none.
std::span<const TaskLoss> taskLosses();

/// The first row of --head=`head`. Throws UsageError that lists the valid heads.
const TaskLoss& lossOfHead(std::string_view head);

/// The row of --loss=`form` with the head of `own`, a network's loss. Throws UsageError unless that head has it.
const TaskLoss& lossInForm(const TaskLoss& own, std::string_view form);

}  // namespace tandem
