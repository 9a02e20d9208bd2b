#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "device/device.h"
#include "device/monitor.h"
#include "graph/graph.h"
#include "kernels/loss/losses.h"
#include "train/batch_feed.h"

namespace tandem {

/// Outputs [N, ...] and labels [N, ...] -> mean loss and gradient of the mean over `divisor` rows. On a GPU it only
/// enqueues.
using Loss = std::function<LossAndGradient(const at::Tensor& output, const at::Tensor& labels, double smoothing,
                                           int64_t divisor)>;

/// How a loss is computed.
struct LossEntry {
  const TaskLoss* task;           ///< row of taskLosses()
  std::string_view labels;        ///< row of labelKinds() that it reads
  Loss (*on)(at::Device device);  ///< of outputs there; it holds what the computation needs besides
};
std::span<const LossEntry> losses();

/// The row of the graph's loss, and of the labels that it reads.
const LossEntry& lossOf(const Graph& graph);
const LabelKind& labelsOf(const Graph& graph);

struct OutputPlacementOptions {
  std::vector<const Device*> devices;  ///< one per replica
  Monitor* monitor = nullptr;
  const LossEntry* loss = nullptr;
  double smoothing = 0;
};

/// Where the outputs of the replicas meet their labels. Collective: each replica calls compute() on its thread, once
/// for each output of a step.
class OutputPlacement {
 public:
  virtual ~OutputPlacement() = default;
  /// Loss of the rows given, and the gradient of its output: of the mean over one replica's batch of `batch` rows.
  virtual LossAndGradient compute(int index, const at::Tensor& output, const at::Tensor& labels, int64_t batch) = 0;
};

/// A row of --loss-at: how batches come in, and where the loss is computed.
struct LossPlacementEntry {
  std::string_view name, summary;
  bool gathered;  ///< replica 0 reads the batches and computes the loss; replicas wait for one another on the host
  std::unique_ptr<BatchFeed> (*makeFeed)(const BatchFeedOptions&);
  std::unique_ptr<OutputPlacement> (*makeOutputs)(const OutputPlacementOptions&);
};

/// replica: each computes its own. gathered: the batch is sliced from replica 0, outputs are gathered there, the loss
/// is computed there and gradients flow back.
std::span<const LossPlacementEntry> lossPlacements();

}  // namespace tandem
