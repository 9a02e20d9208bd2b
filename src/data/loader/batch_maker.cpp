#include "data/loader/batch_maker.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>

#include <limits>
#include <list>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "base/mutex.h"
#include "base/text.h"
#include "data/transform/augment.h"
#include "data/transform/counter_random.h"

namespace tandem {
namespace {

using Order = std::vector<uint32_t>;

// Fisher-Yates shuffle.
Order permutation(int64_t size, uint64_t seed, int64_t epoch) {
  Order order(static_cast<size_t>(size));
  std::iota(order.begin(), order.end(), 0U);
  CounterRandom random(randomKey(RandomUse::order, seed, epoch));
  for (size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
  return order;
}

// Checked here for all devices: a GPU kernel could only produce a loss of NaN.
void checkLabel(const DatasetInfo& info, int64_t index, std::span<const uint8_t> label) {
  const std::string breach = info.labels->breach(label, info.classes);
  if (breach.empty()) return;
  throw DataError(concat("image ", index, " (from 0) of data set '", info.name, "': ", breach, "; check the data"));
}

ImageSize sizeOf(const DatasetInfo& info) { return {info.height, info.width, info.channels}; }

}  // namespace

struct BatchMaker::Orders {
  static constexpr size_t kept = 4;
  Mutex mutex;
  std::list<std::pair<int64_t, Order>> recent TANDEM_GUARDED_BY(mutex);  // latest used first

  // A few epochs are kept: producers work ahead, and batches straddle epochs.
  int64_t at(int64_t epoch, int64_t slot, int64_t size, uint64_t seed) {
    const MutexLock lock(mutex);
    auto found = recent.begin();
    while (found != recent.end() && found->first != epoch) ++found;
    if (found == recent.end()) {
      if (recent.size() == kept) recent.pop_back();
      recent.emplace_front(epoch, permutation(size, seed, epoch));
    } else {
      recent.splice(recent.begin(), recent, found);
    }
    return recent.front().second[static_cast<size_t>(slot)];
  }
};

BatchMaker::BatchMaker(std::shared_ptr<const Dataset> dataset, BatchPlan plan)
    : dataset_(std::move(dataset)), plan_(plan), orders_(std::make_unique<Orders>()) {
  const DatasetInfo& info = dataset_->info();
  check(plan_.count >= 1 && plan_.first >= 0 && plan_.first + plan_.count <= plan_.globalBatch, "BatchPlan: range");
  check(dataset_->size() >= 1 && dataset_->size() <= std::numeric_limits<uint32_t>::max(), "BatchMaker: data set size");
  if (info.height > plan_.height || info.width > plan_.width) {
    throw UsageError(concat("images of data set '", info.name, "' are ", info.height, "x", info.width,
                            " pixels but the network's input is ", plan_.height, "x", plan_.width,
                            "; images must fit into it: use --image-size=", std::max(info.height, info.width)));
  }
}

BatchMaker::~BatchMaker() = default;

std::pair<int64_t, int64_t> BatchMaker::at(int64_t position) const {
  const int64_t size = dataset_->size();
  const int64_t epoch = position / size, slot = position % size;
  return {plan_.shuffle ? orders_->at(epoch, slot, size, plan_.seed) : slot, epoch};
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

void BatchMaker::make(int64_t k, HostBatch& batch) const {
  const ImageSize size = sizeOf(dataset_->info()), input{plan_.height, plan_.width, 3};
  const auto inputBytes = static_cast<size_t>(input.height * input.width * 3);
  uint8_t* images = batch.images.mutable_data_ptr<uint8_t>();
  const size_t perLabel = labelBytes(*dataset_->info().labels, dataset_->info().classes);
  const auto labels = static_cast<uint8_t*>(batch.labels.mutable_data_ptr());
  const int64_t first = k * plan_.globalBatch + plan_.first;
  const int64_t grain = std::max<int64_t>(1, (64 << 10) / static_cast<int64_t>(inputBytes));
  at::parallel_for(0, plan_.count, grain, [&](int64_t begin, int64_t end) {
    std::vector<uint8_t> bytes;
    for (int64_t i = begin; i < end; ++i) {
      const auto [index, epoch] = at(first + i);
      const PlacedImage out{{images + i * inputBytes, inputBytes}, {labels + i * perLabel, perLabel}, bytes};
      readPlaced(*dataset_, index, placeImage(plan_, size, epoch, index), input, out);
      checkLabel(dataset_->info(), index, out.label);
    }
  });
}

}  // namespace tandem
