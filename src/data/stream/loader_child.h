#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "data/dataset/cached_dataset.h"
#include "data/loader/batch_maker.h"
#include "data/stream/loader_stream.h"
#include "data/stream/shared_slots.h"

namespace tandem {

/// The process of --loader=processes, on its side: says each second that it works, and writes batches to the memory
/// that its parent handed on.
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
  const std::jthread beat_;  // last member: its thread ends first
};

}  // namespace tandem
