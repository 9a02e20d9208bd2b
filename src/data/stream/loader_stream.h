#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "data/dataset/cached_dataset.h"
#include "data/loader/bad_images.h"
#include "data/stream/frame_stream.h"
#include "machine/process/child_process.h"

namespace tandem {

/// What a process of --loader=processes makes: batches first, first + step, ... of a replica.
struct LoaderShare {
  int64_t first = 0, step = 1;
  int64_t slotBytes = 0;                 ///< of a batch's message
  std::vector<int64_t> passedOver = {};  ///< images that count as bad: a process crashed at them
};

/// Slots of such a process: one is filled, one waits, one is read.
constexpr int64_t loaderSlots = 3;

/// The lines that it writes, beside those of messages: "alive", unless it is stuck; "bad INDEX REASON" of an image that
/// cannot be read; "kept SAMPLES BYTES", what its cache holds; "error CODE TEXT", why it ends.
namespace loader_line {
constexpr std::string_view alive = "alive", bad = "bad ", kept = "kept ", error = "error ";
}  // namespace loader_line

struct LoaderStreamOptions {
  int64_t workers = 1;
  int64_t firstBatch = 0;  ///< of the training, that is made first
  int64_t slotBytes = 0;
  std::function<ChildOptions(const LoaderShare&)> child;  ///< the process that makes a share
  std::shared_ptr<const Dataset> images = nullptr;        ///< for their names and their number
  std::shared_ptr<BadImages> bad = nullptr;               ///< null: one that cannot be read ends the run
  std::shared_ptr<Feeders> feeders = nullptr;             ///< never null: the processes are added
  std::shared_ptr<CacheUse> caches = nullptr;             ///< null: they have no caches
  int64_t firstCache = 0;                                 ///< number of the first process's
};

/// The batches of a replica, of which process i makes those with k % workers == i. What a process could not read counts
/// in `bad`. Unless that is null, a process that crashes while it reads an image is started again, and the image counts
/// too. next() throws the error of a process with its exit code, and PeerError for one that was killed.
std::unique_ptr<FrameStream> openLoaderStream(LoaderStreamOptions options);

}  // namespace tandem
