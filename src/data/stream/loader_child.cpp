#include "data/stream/loader_child.h"

#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/text.h"
#include "data/stream/streamed_batches.h"
#include "formats/dataset/array_message.h"
#include "formats/io/file.h"
#include "machine/process/child_output.h"

namespace tandem {
namespace {

void say(std::string line) {
  std::ranges::replace(line, '\n', ' ');
  sendLine(line + '\n');
}

/// A parent that is gone ends this process (ChildProcess), so nothing is to be done then.
void beat(const std::stop_token& end, LoaderActivity& activity) {
  constexpr std::chrono::seconds between(1);
  std::mutex mutex;
  std::condition_variable_any ended;
  std::unique_lock lock(mutex);
  try {
    while (!end.stop_requested()) {
      if (activity.goesOn()) say(std::string(loader_line::alive));
      ended.wait_for(lock, end, between, [] { return false; });
    }
  } catch (const InternalError&) {
  }
}

class WatchedImages final : public WrappedDataset {
 public:
  WatchedImages(std::shared_ptr<const Dataset> images, const SharedSlots& slots, LoaderActivity& activity,
                std::vector<int64_t> passedOver)
      : WrappedDataset(std::move(images)), slots_(slots), activity_(activity), passedOver_(std::move(passedOver)) {}

  Sample read(int64_t index, std::vector<uint8_t>& memory, std::span<uint8_t> label) const override {
    slots_.setWork(index + 1);
    activity_.step();
    const Sample sample = inner().read(index, memory, label);
    activity_.step();
    if (std::ranges::find(passedOver_, index) == passedOver_.end()) return sample;
    throw DataError(concat(nameOf(index), ": a process crashed there"));
  }

 private:
  const SharedSlots& slots_;
  LoaderActivity& activity_;
  const std::vector<int64_t> passedOver_;
};

/// Tensors of the maker's batches in a message, whose values are undefined.
HostBatch batchIn(std::span<uint8_t> message, const HostBatch& like) {
  const auto arrays = valueOrThrow(parseArrayMessage(message), "a message of batches");
  const auto tensor = [](const MessageArray& array, const at::Tensor& same) {
    return at::from_blob(const_cast<uint8_t*>(array.bytes.data()), same.sizes(), same.options());
  };
  return {tensor(arrays.at(0), like.images), tensor(arrays.at(1), like.labels)};
}

int64_t waitForFree(const SharedSlots& slots) {
  constexpr std::chrono::microseconds pause(500);
  while (true) {
    for (int64_t i = 0; i < slots.count(); ++i) {
      if (!slots.isFull(i)) return i;
    }
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace

bool LoaderActivity::goesOn() {
  bool full = true;
  for (int64_t i = 0; i < slots_.count(); ++i) full = full && slots_.isFull(i);
  const int64_t before = std::exchange(told_, steps_.load());
  return !begun_ || full || told_ != before;
}

LoaderChild::LoaderChild(LoaderShare share)
    : share_(std::move(share)),
      slots_(SharedSlots::inherited(loaderSlots, share_.slotBytes)),
      activity_(std::make_unique<LoaderActivity>(slots_)),
      beat_([activity = activity_.get()](const std::stop_token& end) { beat(end, *activity); }) {}

std::shared_ptr<const Dataset> LoaderChild::watched(std::shared_ptr<const Dataset> images) const {
  return std::make_shared<const WatchedImages>(std::move(images), slots_, *activity_, share_.passedOver);
}

void LoaderChild::tell(BadImages& bad) {
  bad.tell([](int64_t image, const std::string& reason) { say(concat(loader_line::bad, image, ' ', reason)); });
}

void LoaderChild::run(const BatchMaker& maker, const std::function<KeptSamples()>& kept) const {
  const HostBatch like = maker.allocate();
  const std::vector<uint8_t> message = messageOf(like);
  check(std::ssize(message) == share_.slotBytes, "a slot holds a batch");
  std::vector<HostBatch> batches;
  for (int64_t i = 0; i < slots_.count(); ++i) {
    std::ranges::copy(message, slots_.slot(i).begin());
    batches.push_back(batchIn(slots_.slot(i), like));
  }
  activity_->begin();
  KeptSamples told;
  for (int64_t k = share_.first;; k += share_.step) {
    const int64_t slot = waitForFree(slots_);
    maker.make(k, batches[static_cast<size_t>(slot)]);
    slots_.setWork(0);
    activity_->step();
    const KeptSamples now = kept ? kept() : told;
    if (now != told) say(concat(loader_line::kept, now.samples, ' ', now.bytes));
    told = now;
    slots_.fill(slot);
    say(concat("frame ", slot, ' ', message.size()));
  }
}

void LoaderChild::fail(const Error& failure) {
  say(concat(loader_line::error, static_cast<int>(failure.code()), ' ', failure.what()));
}

}  // namespace tandem
