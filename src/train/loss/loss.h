#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "data/dataset/labels.h"
#include "device/device.h"
#include "device/monitor.h"
#include "graph/graph.h"
#include "kernels/loss/losses.h"
#include "measure/metrics/evaluation.h"
#include "train/batch_feed.h"

namespace tandem {

/// Computes the mean loss of outputs [N, ...] and labels [N, ...], and the gradient of the mean over `divisor` rows
/// (kernels/loss/losses.h). On a GPU it only enqueues work.
using Loss = std::function<LossAndGradient(const at::Tensor& output, const at::Tensor& labels, double smoothing,
                                           double divisor)>;

/// Says of outputs what becomes an evaluation.
struct Judge {
  /// Makes room for so many images.
  void (*resize)(int64_t images, int64_t classes, EvaluatedImages& out);
  /// Writes rows [first, first + n) of `out`, of outputs [n, classes] fp32 and labels [n, ...] on one device. Different
  /// threads may write different rows. A row does not depend on others.
  void (*write)(const at::Tensor& outputs, const at::Tensor& labels, int64_t first, EvaluatedImages& out);
};

/// How a loss counts outputs and labels.
struct LossOptions {
  at::Tensor classWeights = {};  ///< [K]; undefined: all classes count alike
  double targetThreshold = 1;    ///< targets above it become 1, others 0 (kernels/loss/losses.h); 1: they stay
};

/// A row of the catalog of losses.
struct LossEntry {
  const TaskLoss* task;     ///< row of taskLosses()
  std::string_view labels;  ///< row of labelKinds() that it reads
  /// Makes the loss of outputs on this device, with the constants that it needs there. The options' weights may lie on
  /// any device. REQUIRES: weighsClasses and thresholds, or the options are the usual ones.
  Loss (*on)(at::Device device, const LossOptions& options);
  /// The same in fp64 by libtorch: the oracle.
  LossAndGradient (*reference)(const at::Tensor& output, const at::Tensor& labels, double smoothing, double divisor,
                               const LossOptions& options);
  const Judge* judge = nullptr;  ///< null: its outputs are not evaluated
  bool weighsClasses = true;     ///< reads classWeights
  bool thresholds = false;       ///< reads targetThreshold
};
std::span<const LossEntry> losses();

/// The row of the graph's loss, and the kind of labels that it reads.
const LossEntry& lossOf(const Graph& graph);
const LabelKind& labelsOf(const Graph& graph);

struct OutputPlacementOptions {
  std::vector<const Device*> devices;  ///< one per replica
  Monitor* monitor = nullptr;
  const LossEntry* loss = nullptr;
  double smoothing = 0;
  LossOptions counting = {};
};

/// Computes losses where outputs meet labels. Collective: every replica calls compute() on its own thread, once per
/// output and micro-batch, in the same order.
class OutputPlacement {
 public:
  virtual ~OutputPlacement() = default;
  /// The loss of replica `index`'s rows, or of all replicas' rows if they are gathered. The gradient is that of the
  /// mean over `divisor` rows, for this replica's `output`; all replicas give the same. Both are on the replica's
  /// device. Throws PeerError if another replica has failed.
  virtual LossAndGradient compute(int index, const at::Tensor& output, const at::Tensor& labels, double divisor) = 0;
};

/// A row of --loss-at: who reads the batches, and where the loss is computed.
struct LossPlacementEntry {
  std::string_view name, summary;
  bool gathered;  ///< replica 0 reads the batches and computes the loss; replicas wait for one another on the host
  std::unique_ptr<BatchFeed> (*makeFeed)(const BatchFeedOptions&);
  std::unique_ptr<OutputPlacement> (*makeOutputs)(const OutputPlacementOptions&);
};

/// replica: each replica computes its own loss. gathered: replica 0 reads the batch, whose slices go to the replicas.
/// It gathers their outputs and computes the loss; gradients go back.
std::span<const LossPlacementEntry> lossPlacements();

}  // namespace tandem
