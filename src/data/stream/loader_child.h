#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "data/dataset/cached_dataset.h"
#include "data/loader/batch_maker.h"
#include "data/stream/loader_stream.h"
#include "data/stream/shared_slots.h"

namespace tandem {

/// What a process does, so that it can say whether it is stuck. Thread-safe.
class LoaderActivity {
 public:
  /// REQUIRES: `slots` outlive the object.
  explicit LoaderActivity(const SharedSlots& slots) : slots_(slots) {}

  /// From now on only steps count: before, the data set is opened, which has none.
  void begin() { begun_ = true; }
  /// A sample was or is about to be read, or a batch is made.
  void step() { ++steps_; }
  /// Whether there was a step since the last call, or none was to be made, as all slots are full. One thread calls it.
  bool goesOn();

 private:
  const SharedSlots& slots_;
  std::atomic<bool> begun_ = false;
  std::atomic<int64_t> steps_ = 0;
  int64_t told_ = 0;
};

/// The process of --loader=processes, on its side: says each second that it works, as long as it does, and writes
/// batches to the memory that its parent handed on.
class LoaderChild {
 public:
  /// Throws InternalError if no parent handed memory on.
  explicit LoaderChild(LoaderShare share);

  /// The images as this process reads them: the parent can see at which it is, and those that the share passes over
  /// cannot be read. The result uses this object.
  std::shared_ptr<const Dataset> watched(std::shared_ptr<const Dataset> images) const;

  /// Tells the parent of each image that is noted there.
  static void tell(BadImages& bad);

  /// Makes the share's batches on the calling thread, for ever. `kept` says what the cache holds; null: there is none.
  /// Throws as BatchMaker::make().
  [[noreturn]] void run(const BatchMaker& maker, const std::function<KeptSamples()>& kept) const;

  /// Tells the parent why the process ends.
  static void fail(const Error& failure);

 private:
  const LoaderShare share_;
  const SharedSlots slots_;
  const std::unique_ptr<LoaderActivity> activity_;
  const std::jthread beat_;  // last member: its thread ends first
};

}  // namespace tandem
