#include "run/training/evaluator.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "comm/long_texts.h"
#include "run/inference.h"
#include "run/plan/replica_set_options.h"
#include "run/viewed_outputs.h"

namespace tandem {
namespace {

/// A source that makes batches of a data set ahead.
const SourceEntry& queuedSource() {
  const auto serves = [](const SourceEntry& row) { return row.queued && row.realData; };
  return *std::ranges::find_if(sources(), serves);
}

/// Calls visit(values, how many an image has) for each column of the results.
template <class Visit>
void eachColumn(EvaluatedImages& images, const Visit& visit) {
  const auto classes = static_cast<size_t>(images.classes);
  visit(images.losses, 1);
  visit(images.labels, 1);
  visit(images.predicted, 1);
  visit(images.place, 1);
  visit(images.scores, 1);
  visit(images.outputs, classes);
  visit(images.flags, classes);
}

}  // namespace

Evaluator::Evaluator(const RunPlan& plan, DataSplit split, int64_t batch, const KernelSelection& kernels)
    : plan_(plan),
      split_(split),
      batch_(batch),
      kernels_(kernels),
      images_(openDataset(
          plan.config.input.data,
          {.split = split, .normalization = normalizationOf(plan.setup), .classes = plan.config.network.classes})),
      bad_(badImagesOf(plan, images_->size(), /*leavesOut=*/false)),  // an evaluation leaves none out
      devices_(devicesOf(plan)),
      sources_(static_cast<size_t>(plan.config.placement.replicas)) {
  lossOf(*plan.graph).judge->resize(images_->size(), plan.config.network.classes, result_);
}

int64_t Evaluator::places() const { return plan_.place.size * plan_.config.placement.replicas; }

int64_t Evaluator::place(const ReplicaSet::Member& member) const {
  return plan_.place.rank * plan_.config.placement.replicas + member.index();
}

void Evaluator::prefetch(const ReplicaSet::Member& member) {
  auto& source = sources_[static_cast<size_t>(member.index())];
  if (source) return;
  const ImageShape input = plan_.graph->node(plan_.graph->input()).shape;
  const BatchPlan batches{
      .globalBatch = batch_ * places(),
      .first = batch_ * place(member),
      .count = batch_,
      .height = input.height,
      .width = input.width,
      .seed = 0,
      .shuffle = false,
      .augment = std::make_shared<const Augmentation>(Augmentation{"", evaluationChain(plan_, images_->info())}),
      .badImages = bad_,
      .parts = plan_.setup.decoding->parts};
  const SourceOptions options{.batches = std::make_shared<const BatchMaker>(images_, batches),
                              .form = {.device = &devices_[static_cast<size_t>(member.index())],
                                       .type = plan_.setup.precision->compute,
                                       .format = kernels_.layout.format,
                                       .zeroChannels = kernels_.zeroChannels},
                              .producers = plan_.config.input.producers,
                              .queueDepth = plan_.config.input.queueDepth,
                              .hardwareThreads = threadsOfReplica(plan_, member.index())};
  source = queuedSource().make(options);
}

void Evaluator::run(ReplicaSet::Member& member, const std::function<bool()>& isGivenUp) {
  const at::NoGradGuard noGradients;
  if (member.index() == 0) isComplete_ = false;
  prefetch(member);
  member.executor().setTraining(false);
  member.executor().setGradients(false);
  auto& source = sources_[static_cast<size_t>(member.index())];
  Batch batch;
  for (int64_t first = batch_ * place(member); first < images() && !isGivenUp(); first += batch_ * places()) {
    source->next(batch);
    member.device().wait(batch.ready);
    judge(member, batch, first, std::min(batch_, images() - first));
  }
  source.reset();
  member.executor().setGradients(true);
  member.executor().setTraining(!plan_.setup.frozen->allButHead);  // a frozen body trains as it is evaluated
}

// A batch at the end goes on with images of the beginning, so that all batches have one size; these rows do not count.
void Evaluator::judge(ReplicaSet::Member& member, const Batch& batch, int64_t first, int64_t count) {
  const at::Tensor all = viewedOutputs(member.executor(), batch, *plan_.setup.views);
  const at::Tensor outputs = all.narrow(0, 0, count).to(at::kFloat);
  lossOf(*plan_.graph).judge->write(outputs, batch.labels.narrow(0, 0, count), first, result_);
}

std::vector<WrongPrediction> Evaluator::surestErrors(int64_t most) const {
  auto errors = tandem::surestErrors(result_, most);
  for (WrongPrediction& error : errors) error.image = images_->nameOf(error.index);
  return errors;
}

// Each rank sends its rows in their order, and rank 0 puts them where they belong. A head fills some columns alone.
void Evaluator::gather() {
  isComplete_ = true;
  if (plan_.world == nullptr) return;
  const int64_t ofRank = plan_.config.placement.replicas * batch_;
  const auto eachBlockOf = [&](int64_t rank, const auto& visit) {
    for (int64_t first = rank * ofRank; first < images(); first += batch_ * places()) {
      const auto begin = static_cast<size_t>(first), end = static_cast<size_t>(std::min(first + ofRank, images()));
      eachColumn(result_, [&](auto& column, size_t perImage) {
        if (!column.empty())
          visit(std::as_writable_bytes(std::span(column).subspan(begin * perImage, (end - begin) * perImage)));
      });
    }
  };
  std::string own;
  eachBlockOf(plan_.place.rank, [&](std::span<std::byte> block) {
    own.append(reinterpret_cast<const char*>(block.data()), block.size());
  });
  const auto all = longTextsToFirst(*plan_.world, own);
  for (size_t rank = 1; rank < all.size(); ++rank) {
    const char* bytes = all[rank].data();
    eachBlockOf(static_cast<int64_t>(rank), [&](std::span<std::byte> block) {
      std::memcpy(block.data(), bytes, block.size());
      bytes += block.size();
    });
  }
}

}  // namespace tandem
