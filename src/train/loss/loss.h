#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "data/loader/batch_source.h"
#include "device/batch.h"
#include "device/device.h"
#include "device/monitor.h"
#include "graph/graph.h"
#include "kernels/loss/loss_and_gradient.h"

namespace tandem {

/// Outputs [N, ...] and labels [N, ...] -> mean loss and gradient of the mean over `divisor` rows. On a GPU it only
/// enqueues.
using Loss = std::function<LossAndGradient(const at::Tensor& output, const at::Tensor& labels, double smoothing,
                                           int64_t divisor)>;

/// How the loss of that name in taskLosses() is computed.
struct LossEntry {
  std::string_view name;
  std::string_view labels;        ///< row of labelKinds() that it reads
  Loss (*on)(at::Device device);  ///< of outputs there; it holds what the computation needs besides
};
std::span<const LossEntry> losses();

/// The row of the graph's loss, and of the labels that it reads.
const LossEntry& lossOf(const Graph& graph);
const LabelKind& labelsOf(const Graph& graph);

struct LossPlacementOptions {
  std::vector<const Device*> devices;
  Monitor* monitor = nullptr;
  const LossEntry* loss = nullptr;
  double smoothing = 0;
};

/// Where the loss is computed, and with it where batches come in. Methods are collective: each replica calls them on
/// its thread, once a step, fetch() then compute().
class LossPlacement {
 public:
  virtual ~LossPlacement() = default;
  /// True when replica `index` needs a source; its batch is then `share()` replicas' worth of images.
  virtual bool needsSource(int index) const = 0;
  virtual int share() const = 0;
  /// This replica's batch. `source` is null when it needs none.
  virtual void fetch(int index, BatchSource* source, Batch& out) = 0;
  /// Loss of the rows given, and the gradient of its output: of the mean over one replica's batch of `batch` rows.
  virtual LossAndGradient compute(int index, const at::Tensor& output, const at::Tensor& labels, int64_t batch) = 0;
};

struct LossPlacementEntry {
  std::string_view name, summary;
  std::unique_ptr<LossPlacement> (*make)(const LossPlacementOptions&);
};

/// replica: each computes its own. gathered: the batch is sliced from replica 0, outputs are gathered there, the loss
/// is computed there and gradients flow back.
std::span<const LossPlacementEntry> lossPlacements();

}  // namespace tandem
