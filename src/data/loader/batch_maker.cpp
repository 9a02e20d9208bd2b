#include "data/loader/batch_maker.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <limits>
#include <list>
#include <vector>

#include "base/error.h"
#include "base/mutex.h"
#include "base/text.h"
#include "data/loader/epoch_order.h"
#include "data/transform/counter_random.h"

namespace tandem {
namespace {

std::string breachOf(const Dataset& dataset, std::span<const uint8_t> label) {
  return dataset.info().labels->breach(label, dataset.info().classes);
}

// Checked here for all devices: a GPU kernel could only produce a loss of NaN.
void checkLabel(const Dataset& dataset, int64_t index, std::span<const uint8_t> label) {
  const std::string breach = breachOf(dataset, label);
  if (breach.empty()) return;
  throw DataError(concat(dataset.nameOf(index), ": ", breach, "; check the data"));
}

const TransformChain& chainOf(const BatchPlan& plan) { return plan.augment ? plan.augment->chain : paddedOnly(); }

}  // namespace

struct BatchMaker::Orders {
  static constexpr size_t kept = 4;
  Mutex mutex;
  std::list<std::pair<int64_t, EpochOrder>> recent TANDEM_GUARDED_BY(mutex);  // latest used first

  // A few epochs are kept: producers work ahead, and batches straddle epochs.
  int64_t at(int64_t epoch, int64_t slot, const Dataset& dataset, const BatchPlan& plan) {
    const MutexLock lock(mutex);
    auto found = recent.begin();
    while (found != recent.end() && found->first != epoch) ++found;
    if (found == recent.end()) {
      if (recent.size() == kept) recent.pop_back();
      recent.emplace_front(epoch, epochOrder(dataset, plan.seed, epoch, plan.shuffleBuffer));
    } else {
      recent.splice(recent.begin(), recent, found);
    }
    return recent.front().second[static_cast<size_t>(slot)];
  }
};

BatchMaker::BatchMaker(std::shared_ptr<const Dataset> dataset, BatchPlan plan)
    : dataset_(std::move(dataset)),
      plan_(std::move(plan)),
      inputs_(*dataset_, chainOf(plan_), {plan_.height, plan_.width, 3}, plan_.parts),
      orders_(std::make_unique<Orders>()) {
  check(plan_.count >= 1 && plan_.first >= 0 && plan_.first + plan_.count <= plan_.globalBatch, "BatchPlan: range");
  check(dataset_->size() >= 1 && dataset_->size() <= std::numeric_limits<uint32_t>::max(), "BatchMaker: data set size");
  check(plan_.shuffleBuffer == 0 || !dataset_->shardEnds().empty(), "BatchPlan: a buffer is for shards");
  if (const std::string fault = inputs_.fault(); !fault.empty()) {
    throw UsageError(concat("data set '", dataset_->info().name, "': ", fault, "; change --image-size or --augment"));
  }
}

BatchMaker::~BatchMaker() = default;

std::pair<int64_t, int64_t> BatchMaker::at(int64_t position) const {
  const int64_t size = dataset_->size();
  const int64_t epoch = position / size, slot = position % size;
  return {plan_.shuffle ? orders_->at(epoch, slot, *dataset_, plan_) : slot, epoch};
}

HostBatch BatchMaker::allocate(const at::TensorOptions& memory) const {
  const DatasetInfo& info = dataset_->info();
  std::vector<int64_t> labels = info.labels->shape(info.classes);
  labels.insert(labels.begin(), plan_.count);
  return {at::empty({plan_.count, plan_.height, plan_.width, 3}, memory.dtype(at::kByte)),
          at::empty(labels, memory.dtype(info.labels->type))};
}

HostBatch BatchMaker::make(int64_t k) const {
  HostBatch batch = allocate();
  make(k, batch);
  return batch;
}

// Allocated anew from caches: labels leave with the batch, and a copy may still be reading pinned memory.
void BatchMaker::make(int64_t k, const at::TensorOptions& memory, HostBatch& out) const {
  if (memory.pinned_memory() || !out.images.defined()) {
    out = allocate(memory);
  } else {
    out.labels = at::empty_like(out.labels);
  }
  make(k, out);
}

BatchOrigin BatchMaker::origin() const {
  const auto channels = [](const auto& values) { return std::vector<double>(values.begin(), values.end()); };
  return {dataset_->info().name, plan_.augment ? plan_.augment->text : "", channels(normalization().mean),
          channels(normalization().deviation)};
}

void BatchMaker::make(int64_t k, HostBatch& batch) const {
  const size_t inputBytes = inputs_.inputBytes();
  uint8_t* images = batch.images.mutable_data_ptr<uint8_t>();
  const size_t perLabel = labelBytes(*dataset_->info().labels, dataset_->info().classes);
  const auto labels = static_cast<uint8_t*>(batch.labels.mutable_data_ptr());
  const int64_t first = (plan_.firstBatch + k) * plan_.globalBatch + plan_.first;
  const auto together = static_cast<int64_t>((64 << 10) / inputBytes);  // less work is not worth another thread
  const int64_t grain = dataset_->info().encoded() ? 1 : std::max<int64_t>(1, together);
  at::parallel_for(0, plan_.count, grain, [&](int64_t begin, int64_t end) {
    InputMemory memory;
    for (int64_t i = begin; i < end; ++i) {
      const InputPlace out{{images + i * inputBytes, inputBytes}, {labels + i * perLabel, perLabel}, memory};
      makeInput(first + i, out);
    }
  });
}

void BatchMaker::makeInput(int64_t position, const InputPlace& out) const {
  const auto [first, epoch] = at(position);
  const int64_t index = readInput(first, epoch, out);
  checkLabel(*dataset_, index, out.label);
}

// A bad image keeps its place in the sequence, so that no batch depends on what is found in others. The image behind it
// in the data set takes the place; its changes are those of its own random numbers. A black image needs a label: that
// of a damaged record is not known.
int64_t BatchMaker::readInput(int64_t index, int64_t epoch, const InputPlace& out) const {
  for (int64_t tries = dataset_->size(); tries > 0; --tries, index = (index + 1) % dataset_->size()) {
    try {
      inputs_.make(index,
                   {.random = CounterRandom(randomKey(RandomUse::augment, plan_.seed, epoch, index)),
                    .ofImage = CounterRandom(randomKey(RandomUse::image, plan_.seed, index)),
                    .epoch = epoch},
                   out);
      return index;
    } catch (const DataError& failure) {
      if (!plan_.badImages) throw;
      const bool blackened = plan_.badImages->blackened(), labelled = breachOf(*dataset_, out.label).empty();
      const char* const more =
          blackened && !labelled ? "; it has no valid label, so the next image takes its place" : "";
      plan_.badImages->note(index, DataError(concat(failure.what(), more)));
      if (!blackened || !labelled) continue;
      std::ranges::fill(out.image, uint8_t{0});
      return index;
    }
  }
  throw DataError(concat("no image of data set '", dataset_->info().name, "' can be read"));
}

}  // namespace tandem
