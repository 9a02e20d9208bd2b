#include "run/inference.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <atomic>

#include "base/catalog.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/text.h"
#include "data/loader/batch_stager.h"
#include "data/loader/input_maker.h"
#include "data/transform/augment.h"
#include "device/out_of_memory.h"
#include "run/outcome_of_exception.h"
#include "run/plan/replica_set_options.h"
#include "run/plan/select_kernels.h"
#include "run/viewed_outputs.h"

namespace tandem {
namespace {

/// The images and results that all replicas work on. Each row belongs to one batch, so tensors need no lock.
class Work {
 public:
  Work(const InferenceOptions& options, const ReplicaSetOptions& replicas)
      : options_(options),
        kernels_(replicas.kernels),
        devices_(replicas.devices),
        input_(options.graph->node(options.graph->input()).shape),
        inputs_(*options.images, options.chain, {input_.height, input_.width, 3}),
        type_(options.plan->setup.precision->compute),
        isRead_(static_cast<size_t>(options.images->size()), 1) {
    const int64_t images = options.images->size();
    outputs_ = at::zeros({images, options.graph->node(options.graph->output()).shape.count()}, at::kFloat);
    const DatasetInfo& info = options.images->info();
    std::vector<int64_t> shape = info.labels->shape(info.classes);
    shape.insert(shape.begin(), images);
    labels_ = at::zeros(shape, info.labels->type);
  }

  void run(ReplicaSet::Member& member) {
    const int64_t batch = options_.plan->replicaBatch, images = options_.images->size();
    member.barrier();
    if (member.index() == 0) begin_ = now();
    for (int64_t first = batch * next_++; first < images; first = batch * next_++) {
      runBatch(member, first, std::min(batch, images - first));
    }
    member.barrier();
    if (member.index() == 0) end_ = now();
  }

  InferenceResult result() {
    InferenceResult result;
    for (int64_t i = 0; i < options_.images->size(); ++i) {
      if (isRead_[static_cast<size_t>(i)] == 0) continue;
      result.images.push_back(i);
    }
    const at::Tensor rows = at::tensor(result.images, at::kLong);
    result.outputs = outputs_.index_select(0, rows);
    result.labels = labels_.index_select(0, rows);
    const MutexLock lock(mutex_);
    result.bad = std::move(bad_);
    std::ranges::sort(result.bad, {}, &BadImage::index);
    result.seconds = seconds(end_ - begin_);
    return result;
  }

 private:
  void runBatch(ReplicaSet::Member& member, int64_t first, int64_t count) {
    HostBatch host{at::zeros({count, input_.height, input_.width, 3}, at::kByte), labels_.narrow(0, first, count)};
    for (int64_t i = 0; i < count; ++i) read(first + i, {host.images[i].data_ptr<uint8_t>(), inputs_.inputBytes()});
    const InputForm there{.device = &devices_.at(static_cast<size_t>(member.index())),
                          .type = type_,
                          .format = kernels_.layout.format,
                          .zeroChannels = kernels_.zeroChannels};
    const Batch batch = staged(host, options_.images->info().normalization, there);
    const at::Tensor outputs =
        viewedOutputs(member.executor(), batch, *options_.plan->setup.views).to(at::kCPU).to(at::kFloat);
    refuseNonFinite(outputs, first);
    outputs_.narrow(0, first, count).copy_(outputs);
  }

  void read(int64_t index, std::span<uint8_t> out) {
    InputMemory memory;
    try {
      inputs_.make(index, {}, {out, labelOf(index), memory});
    } catch (const DataError& failure) {
      if (!options_.skipBad && !options_.blackenBad) throw;
      const bool leftOut = options_.skipBad || !mayBeBlack(index);
      if (leftOut) isRead_[static_cast<size_t>(index)] = 0;
      const MutexLock lock(mutex_);
      bad_.push_back({index, failure.what(), leftOut});
    }
  }

  /// Whether its label is valid, or none of the images has one.
  bool mayBeBlack(int64_t index) {
    const DatasetInfo& info = options_.images->info();
    return info.classes == 0 || info.labels->breach(labelOf(index), info.classes).empty();
  }

  std::span<uint8_t> labelOf(int64_t index) {
    const DatasetInfo& info = options_.images->info();
    const size_t bytes = labelBytes(*info.labels, info.classes);
    return {static_cast<uint8_t*>(labels_.mutable_data_ptr()) + static_cast<size_t>(index) * bytes, bytes};
  }

  void refuseNonFinite(const at::Tensor& outputs, int64_t first) const {
    const at::Tensor bad = at::isfinite(outputs).all(1).logical_not();
    if (!bad.any().item<bool>()) return;
    throw NumericError(concat("image ", first + bad.to(at::kInt).argmax().item<int64_t>(),
                              " (from 0): ", options_.plan->config.network.model,
                              " gives values that are not finite; check the weights, or ", "use --precision=fp32"));
  }

  const InferenceOptions& options_;
  const KernelSelection kernels_;
  const std::vector<Device> devices_;
  const ImageShape input_;
  const InputMaker inputs_;
  const at::ScalarType type_;
  at::Tensor outputs_, labels_;  // one row per image
  std::vector<char> isRead_;     // by image; not vector<bool>, because replicas write neighbours at the same time
  Mutex mutex_;
  std::vector<BadImage> bad_ TANDEM_GUARDED_BY(mutex_);
  std::atomic<int64_t> next_{0};  // number of the next batch
  Nanos begin_{}, end_{};
};

}  // namespace

TransformChain evaluationChain(const RunPlan& plan, const DatasetInfo& info) {
  if (!info.encoded()) return inOrderOf(plan.setup.normalization, paddedOnly());
  const int64_t crop = plan.config.network.imageSize, asked = plan.config.inference.resize;
  const int64_t side = asked != 0 ? asked : usualResize(crop);
  const Interpolation& by = find(interpolations(), plan.config.inference.interpolation, "--interpolation");
  if (side >= crop) return inOrderOf(plan.setup.normalization, scaledAndCropped(side, by));
  throw UsageError(concat("--resize=", side, ": must be at least the network's input of ", crop, " pixels"));
}

InferenceResult runInference(const InferenceOptions& options) try {
  ReplicaSetOptions team =
      replicaSetOptions(*options.plan, *options.graph, selectKernels(*options.plan, *options.graph));
  team.pretrained = options.pretrained;
  team.source = [](int) { return nullptr; };  // Work reads the images, so replicas need no source
  Work work(options, team);
  ReplicaSet(team).run([&work](ReplicaSet::Member& member) { work.run(member); });
  return work.result();
} catch (const std::exception& failure) {
  if (!isOutOfMemory(failure)) throw;
  throw UsageError(outcomeOf(failure, options.plan->config).reason);
}

}  // namespace tandem
