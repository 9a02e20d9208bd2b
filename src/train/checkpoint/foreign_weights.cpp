#include "train/checkpoint/foreign_weights.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <map>

#include "base/error.h"
#include "base/text.h"
#include "graph/state.h"
#include "train/checkpoint/weight_loader.h"

namespace tandem {
namespace {

/// Writes one network's weights for one map.
class ForeignWriter {
 public:
  ForeignWriter(const WeightsMap& map, const Config& config, const Graph& graph)
      : map_(map),
        model_(config.network.model),
        foreign_(map.of(model_, graph)),
        own_(stateTensors(graph)),
        read_(readPretrained(config, graph)) {
    values_.insert(read_->parameters.begin(), read_->parameters.end());
    values_.insert(read_->statistics.begin(), read_->statistics.end());
  }

  ForeignWeights write() {
    for (size_t i = 0; i < own_.size(); ++i) writeOne(own_[i], foreign_.tensors[i]);
    describe();
    return std::move(result_);
  }

 private:
  void writeOne(const StateTensor& own, const ForeignTensor& foreign) {
    const auto found = values_.find(own.name);
    if (found == values_.end()) return static_cast<void>(++missing_);
    if (foreign.absent) return static_cast<void>(++absent_);
    if (foreign.ifMissing) return requireBuiltIn(own, found->second, *foreign.ifMissing);
    if (!foreign.subtracted.empty()) {
      result_.tensors.emplace_back(foreign.subtracted, at::zeros(own.shape));
      ++zeros_;
    }
    at::Tensor values = inForeignOrder(foreign, found->second);
    if (foreign.added != 0) values = values - foreign.added;
    result_.tensors.emplace_back(foreign.name, std::move(values));
  }

  void requireBuiltIn(const StateTensor& own, const at::Tensor& values, double builtIn) const {
    if (values.eq(builtIn).all().item<bool>()) return;
    throw CheckpointError(concat("'", own.name, "' of ", model_, " is not ", builtIn,
                                 " everywhere, and the network of ", map_.name,
                                 " has no such scale; its weights cannot be written under those names"));
  }

  void describe() {
    result_.warnings = read_->warnings;
    if (!read_->fileNote.empty()) result_.notes.push_back(read_->fileNote);
    const auto note = [&](int64_t count, std::string_view text) {
      if (count > 0) result_.notes.push_back(concat(count, text));
    };
    note(read_->leftOver, " of the file's tensors are not written: no network uses them, as num_batches_tracked");
    note(missing_, " tensors of auxiliary heads are not written: the file lacks them");
    note(absent_, concat(" tensors of auxiliary heads are not written: the network of ", map_.name, " lacks them"));
    note(zeros_, concat(" biases in front of batch-norm are written as zeros: the network of ", map_.name,
                        " has them, ", model_, " does not"));
    if (!foreign_.difference.empty()) {
      result_.warnings.push_back(concat("weights of ", model_, " for ", map_.name, ": ", foreign_.difference));
    }
  }

  const WeightsMap& map_;
  const std::string& model_;
  ForeignState foreign_;
  std::vector<StateTensor> own_;
  std::shared_ptr<const Pretrained> read_;
  std::map<std::string, at::Tensor> values_;  // by name here
  int64_t missing_ = 0, absent_ = 0, zeros_ = 0;
  ForeignWeights result_;
};

}  // namespace

at::Tensor inOwnOrder(const ForeignTensor& foreign, at::Tensor values, const std::vector<int64_t>& shape) {
  if (!foreign.view.empty()) values = values.view(foreign.view);
  if (!foreign.axes.empty()) values = values.permute(foreign.axes);
  return values.reshape(shape).contiguous();
}

at::Tensor inForeignOrder(const ForeignTensor& foreign, const at::Tensor& values) {
  if (foreign.axes.empty()) return values.reshape(foreign.shape).contiguous();
  const std::vector<int64_t>& view = foreign.view.empty() ? foreign.shape : foreign.view;
  std::vector<int64_t> permuted, back(view.size());
  for (size_t i = 0; i < view.size(); ++i) {
    const auto axis = static_cast<size_t>(foreign.axes[i]);
    permuted.push_back(view[axis]);
    back[axis] = static_cast<int64_t>(i);
  }
  return values.reshape(permuted).permute(back).reshape(foreign.shape).contiguous();
}

ForeignWeights readForeign(const WeightsMap& map, const Config& config, const Graph& graph) {
  const at::NoGradGuard noGradients;
  return ForeignWriter(map, config, graph).write();
}

}  // namespace tandem
