#include "graph/task_loss.h"

#include <array>
#include <vector>

#include "base/catalog.h"

namespace tandem {
namespace {

constexpr std::array catalog{
    TaskLoss{"softmax_cross_entropy", "softmax", 2, "one class per image; label smoothing by --label-smoothing"},
    TaskLoss{"binary_cross_entropy", "sigmoid", 1,
             "any of the classes per image, each by itself; label smoothing by --label-smoothing"},
    TaskLoss{"multibox", "", 2, "offsets and classes of default boxes, with the worst background boxes; of SSD alone"},
};

}  // namespace

std::span<const TaskLoss> taskLosses() { return catalog; }

const TaskLoss& lossOfHead(std::string_view head) {
  std::vector<std::string> heads;
  for (const TaskLoss& loss : catalog) {
    if (!loss.head.empty() && loss.head == head) return loss;
    if (!loss.head.empty()) heads.emplace_back(loss.head);
  }
  throw UsageError(unknownName("--head", head, heads));
}

}  // namespace tandem
