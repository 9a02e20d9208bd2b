#include "train/batch_feed.h"

#include <numeric>

#include "base/error.h"
#include "device/replica_progress.h"

namespace tandem {
namespace {

class OwnFeed final : public BatchFeed {
 public:
  explicit OwnFeed(const BatchFeedOptions& options) : options_(options) {}

  bool needsSource(int) const override { return true; }

  void fetch(int index, BatchSource* source, Batch& out) override {
    check(source->next(out), "a training source ended");
    options_.devices.at(static_cast<size_t>(index))->wait(out.ready);
  }

 private:
  const BatchFeedOptions options_;
};

class ScatteredFeed final : public BatchFeed {
 public:
  explicit ScatteredFeed(const BatchFeedOptions& options)
      : options_(options), taken_(options.devices.size()), batchesOf_(options.devices.size(), 0) {}

  bool needsSource(int index) const override { return index == 0; }
  void fetch(int index, BatchSource* source, Batch& out) override;

 private:
  const Device& device(int index) const { return *options_.devices.at(static_cast<size_t>(index)); }
  /// Batch number `batch`, from 1.
  void read(BatchSource& source, int64_t batch);
  /// Rows of the joined batch.
  at::Tensor sliceOf(const at::Tensor& joined, int index) const;

  const BatchFeedOptions options_;
  Batch joined_;                        // replica 0 replaces it when all have taken their slices
  ReplicaProgress ready_;               // the number of batches that are on replica 0's device
  std::vector<ReplicaProgress> taken_;  // the number of batches of which each replica has its slice
  std::vector<int64_t> batchesOf_;      // of each replica, touched by its thread only
};

void ScatteredFeed::read(BatchSource& source, int64_t batch) {
  for (const ReplicaProgress& taken : taken_) taken.await(batch - 1, device(0), *options_.monitor);
  check(source.next(joined_), "a training source ended");
  device(0).wait(joined_.ready);
  ready_.publish(batch, device(0).record(), *options_.monitor);
}

at::Tensor ScatteredFeed::sliceOf(const at::Tensor& joined, int index) const {
  const auto replicas = std::ssize(options_.devices);
  if (options_.shares.empty()) return joined.narrow(0, joined.size(0) / replicas * index, joined.size(0) / replicas);
  const auto own = options_.shares.begin() + index;
  return joined.narrow(0, std::accumulate(options_.shares.begin(), own, int64_t{0}), *own);
}

void ScatteredFeed::fetch(int index, BatchSource* source, Batch& out) {
  const int64_t batch = ++batchesOf_[static_cast<size_t>(index)];
  if (index == 0) {
    read(*source, batch);
  } else {
    ready_.await(batch, device(index), *options_.monitor);
  }
  const auto sliceHere = [&](const at::Tensor& joined) {
    return sliceOf(joined, index).to(device(index).torch(), /*non_blocking=*/true);
  };
  out = {.images = sliceHere(joined_.images),
         .labels = sliceHere(joined_.labels),
         .index = joined_.index,
         .ready = nullptr,
         .origin = joined_.origin};
  taken_[static_cast<size_t>(index)].publish(batch, device(index).record(), *options_.monitor);
}

}  // namespace

std::unique_ptr<BatchFeed> makeOwnFeed(const BatchFeedOptions& options) { return std::make_unique<OwnFeed>(options); }

std::unique_ptr<BatchFeed> makeScatteredFeed(const BatchFeedOptions& options) {
  return std::make_unique<ScatteredFeed>(options);
}

}  // namespace tandem
