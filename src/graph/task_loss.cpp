#include "graph/task_loss.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/catalog.h"

namespace tandem {
namespace {

constexpr std::array catalog{
    TaskLoss{"softmax_cross_entropy", "softmax", "cross_entropy", 2,
             "one class per image; label smoothing by --label-smoothing"},
    TaskLoss{"binary_cross_entropy", "sigmoid", "", 1,
             "any of the classes per image, each by itself; label smoothing by --label-smoothing"},
    TaskLoss{"multibox", "", "", 2,
             "offsets and classes of default boxes, with the worst background boxes; of SSD alone"},
    TaskLoss{"one_hot_binary_cross_entropy", "softmax", "bce", 2,
             "one class per image, but each output is trained by itself; --label-smoothing and --bce-threshold"},
};

}  // namespace

std::span<const TaskLoss> taskLosses() { return catalog; }

const TaskLoss& lossOfHead(std::string_view head) {
  std::vector<std::string> heads;
  for (const TaskLoss& loss : catalog) {
    if (!loss.head.empty() && loss.head == head) return loss;
    if (!loss.head.empty() && std::ranges::find(heads, loss.head) == heads.end()) heads.emplace_back(loss.head);
  }
  throw UsageError(unknownName("--head", head, heads));
}

const TaskLoss& lossInForm(const TaskLoss& own, std::string_view form) {
  std::vector<std::string> forms;
  const TaskLoss* other = nullptr;
  for (const TaskLoss& loss : catalog) {
    if (loss.form.empty()) continue;
    forms.emplace_back(loss.form);
    if (loss.form != form) continue;
    if (loss.head == own.head) return loss;
    other = &loss;
  }
  if (other == nullptr) throw UsageError(unknownName("--loss", form, forms));
  throw UsageError(concat("--loss=", form, " is a loss of --head=", other->head, ", and the network has ", own.name,
                          own.head.empty() ? ", which has no other form; leave --loss away"
                                           : "; leave --loss away, or give another --head"));
}

}  // namespace tandem
