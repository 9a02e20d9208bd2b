#include "run/training/evaluator.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cstring>

#include "base/catalog.h"
#include "comm/long_texts.h"
#include "config/modes.h"
#include "run/inference.h"
#include "run/plan/replica_set_options.h"

namespace tandem {
namespace {

/// A source that makes batches of a data set ahead.
const SourceEntry& queuedSource() {
  const auto serves = [](const SourceEntry& row) { return row.queued && row.realData; };
  return *std::ranges::find_if(sources(), serves);
}

/// An image that cannot be read is black, unless it ends the run: an evaluation leaves none out.
std::shared_ptr<BadImages> badImagesOf(const RunPlan& plan, int64_t images) {
  const BadImageEntry& asked = find(badImages(), plan.config.inference.badImage, "--bad-image");
  if (!asked.leftOut && !asked.blackened) return nullptr;
  const double most = static_cast<double>(images) * plan.config.input.maxBad / 100;
  return std::make_shared<BadImages>(
      BadImages::Policy{.blackened = true, .most = std::max<int64_t>(1, static_cast<int64_t>(most))});
}

/// Appends the values of rows to bytes, and reads them back.
template <class Value>
void append(std::string& bytes, const std::vector<Value>& values, size_t begin, size_t count) {
  if (!values.empty()) bytes.append(reinterpret_cast<const char*>(values.data() + begin), count * sizeof(Value));
}
template <class Value>
void take(const char*& bytes, std::vector<Value>& values, size_t begin, size_t count) {
  if (values.empty()) return;
  std::memcpy(values.data() + begin, bytes, count * sizeof(Value));
  bytes += count * sizeof(Value);
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
      bad_(badImagesOf(plan, images_->size())),
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
                              .form = {.device = &member.device(),
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
  const at::Tensor outputs = member.executor().forward(batch)[0].narrow(0, 0, count).to(at::kFloat);
  lossOf(*plan_.graph).judge->write(outputs, batch.labels.narrow(0, 0, count), first, result_);
}

// Each rank sends its rows in their order, and rank 0 puts them where they belong.
void Evaluator::gather() {
  if (plan_.world == nullptr) return;
  const auto classes = static_cast<size_t>(result_.classes);
  const auto eachRowOf = [&](int64_t rank, const auto& visit) {
    const int64_t replicas = plan_.config.placement.replicas;
    for (int64_t first = rank * replicas * batch_; first < images(); first += batch_ * places()) {
      const int64_t end = std::min(first + replicas * batch_, images());
      visit(static_cast<size_t>(first), static_cast<size_t>(end - first));
    }
  };
  std::string own;
  eachRowOf(plan_.place.rank, [&](size_t begin, size_t count) {
    append(own, result_.losses, begin, count);
    append(own, result_.labels, begin, count);
    append(own, result_.predicted, begin, count);
    append(own, result_.place, begin, count);
    append(own, result_.outputs, begin * classes, count * classes);
    append(own, result_.flags, begin * classes, count * classes);
  });
  const auto all = longTextsToFirst(*plan_.world, own);
  for (size_t rank = 1; rank < all.size(); ++rank) {
    const char* bytes = all[rank].data();
    eachRowOf(static_cast<int64_t>(rank), [&](size_t begin, size_t count) {
      take(bytes, result_.losses, begin, count);
      take(bytes, result_.labels, begin, count);
      take(bytes, result_.predicted, begin, count);
      take(bytes, result_.place, begin, count);
      take(bytes, result_.outputs, begin * classes, count * classes);
      take(bytes, result_.flags, begin * classes, count * classes);
    });
  }
}

}  // namespace tandem
