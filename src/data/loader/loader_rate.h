#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "data/loader/batch_maker.h"
#include "data/loader/batch_source.h"

namespace tandem {

/// How fast threads made inputs.
struct LoaderRate {
  double imagesPerSecond = 0;                  ///< of all threads
  double image = 0;                            ///< seconds of a thread for an image
  double read = 0, decode = 0, normalize = 0;  ///< parts of `image`

  /// The rest: what the changes of the image take.
  double transform() const { return image - read - decode - normalize; }
};

/// Threads that make a data set's inputs as producers do, one after the other in the order of training, and measure
/// what it takes. Each call goes on where the last one ended, so what it reads is in memory only if it would be in
/// training.
class LoaderMeter {
 public:
  /// `normalised`: the form into which producers bring the inputs on a CPU, whose `device` is not used; nullopt: a GPU
  /// does that.
  LoaderMeter(std::shared_ptr<const BatchMaker> maker, const std::optional<InputForm>& normalised)
      : maker_(std::move(maker)), normalised_(normalised) {}

  /// Runs so many threads for about `length`; each makes at least a few inputs. Throws as BatchMaker::make().
  LoaderRate measure(int64_t threads, Nanos length);

 private:
  struct Work;  // of a thread

  void run(Work& work, Nanos end);

  const std::shared_ptr<const BatchMaker> maker_;
  const std::optional<InputForm> normalised_;
  std::atomic<int64_t> next_{0};  // position of the sequence
};

}  // namespace tandem
