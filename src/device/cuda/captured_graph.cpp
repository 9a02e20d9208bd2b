#include "device/captured_graph.h"

#include <ATen/core/CachingHostAllocator.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace tandem {
namespace {

// Held shared by replicas that capture. Meanwhile no thread may wait for a whole device that captures. Nor may libtorch
// empty its caches, because it empties those of all GPUs at once.
std::shared_mutex recordings;

template <class Call>
bool succeeds(Call call) noexcept {
  try {
    call();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

/// A stream that nobody else uses: libtorch deals its pool's streams to several users, producers among them. Kept for
/// the next user, because the allocator continues to label memory with the stream that took it.
class OwnStream {
 public:
  explicit OwnStream(c10::DeviceIndex device) : stream_(take(device)) {}
  ~OwnStream() {
    const MutexLock lock(mutex);
    kept.push_back(stream_);
  }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;

  c10::cuda::CUDAStream get() const { return stream_; }

 private:
  static c10::cuda::CUDAStream take(c10::DeviceIndex device) {
    const MutexLock lock(mutex);
    const auto found =
        std::find_if(kept.begin(), kept.end(), [=](const auto& stream) { return stream.device_index() == device; });
    if (found != kept.end()) {
      const c10::cuda::CUDAStream stream = *found;
      kept.erase(found);
      return stream;
    }
    const c10::cuda::CUDAGuard guard(device);
    cudaStream_t stream = nullptr;
    C10_CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return c10::cuda::getStreamFromExternal(stream, device);
  }

  static inline Mutex mutex;
  static inline std::vector<c10::cuda::CUDAStream> kept TANDEM_GUARDED_BY(mutex);

  c10::cuda::CUDAStream stream_;
};

/// libtorch's graph, restricted to the numbers of one generator, that can also end a capture that failed.
class PartGraph final : public at::cuda::CUDAGraph {
 public:
  PartGraph() { ++alive; }
  ~PartGraph() { --alive; }
  PartGraph(const PartGraph&) = delete;
  PartGraph& operator=(const PartGraph&) = delete;

  static inline std::atomic<int> alive{0};  ///< graphs of the process that exist, and may be launched

  /// libtorch registers the default generator with every graph, and the replicas of a GPU share it. A launch of one
  /// graph would then meet it within another's capture. No step draws from it, so it is removed here.
  void begin(const at::Generator& generator, c10::MempoolId_t pool) {
    const std::lock_guard lock(defaultGenerators);
    register_generator_state(generator);
    const auto own = captured_generator_states_;
    // Thread-local mode: other replicas' threads continue meanwhile, and their calls must not end this capture.
    capture_begin(pool, cudaStreamCaptureModeThreadLocal);
    for (const auto& [state, increment] : captured_generator_states_) {
      if (own.find(state) == own.end()) leave(*state);
    }
    captured_generator_states_ = own;
  }

  /// Ends a capture that begin() started or failed to start. If capture_end() throws at its first call, which ends the
  /// capture, it skips the rest. The allocators would then continue to treat the stream as capturing for this graph,
  /// and the generators would refuse to draw.
  void giveUp() noexcept {
    if (succeeds([this] { capture_end(); })) return;
    if (capture_dev_ != UNDEFINED_DEVICE) endAllocations();
    const std::lock_guard lock(defaultGenerators);
    for (const auto& [state, increment] : captured_generator_states_) leave(*state);
    captured_generator_states_.clear();
  }

 private:
  // Releases a pool only if its allocation phase was open. Otherwise it never began, or the destructor releases it.
  void endAllocations() noexcept {
    auto& device = *c10::cuda::CUDACachingAllocator::get();
    if (succeeds([&] { device.endAllocateToPool(capture_dev_, mempool_id_); })) {
      succeeds([&] { device.releasePool(capture_dev_, mempool_id_); });
    }
    at::HostAllocator& host = *at::getHostAllocator(at::kCUDA);
    if (succeeds([&] { host.end_allocate_to_pool(mempool_id_); })) {
      succeeds([&] { host.release_pool(mempool_id_); });
    }
  }

  // As capture_epilogue() and unregister_graph() of CUDAGeneratorState, which the library does not export.
  void leave(at::CUDAGeneratorState& state) {
    state.capturing_ = false;
    state.registered_graphs_.erase(this);
    if (!state.registered_graphs_.empty()) return;
    state.seed_extragraph_.reset();
    state.offset_extragraph_.reset();
  }

  static inline std::mutex defaultGenerators;  // libtorch does not lock the list of a generator's graphs
};

class CudaCapturedGraph final : public CapturedGraph {
 public:
  explicit CudaCapturedGraph(const Device& device) : device_(device), stream_(device.torch().index()) {}

  // The default stream cannot be captured, but a captured graph may be launched there. The graphs have a pool of their
  // own and cannot use the blocks that eager steps left in the allocator's cache.
  void record(const std::function<void()>& work, const at::Generator& generator) override {
    settle();
    const std::shared_lock recording(recordings);
    generator_ = generator;
    // The former graphs are let go after the capture: they hold the pool, whose free memory then serves again.
    const std::vector<Part> former = std::exchange(parts_, {});
    if (former.empty()) pool_ = at::cuda::graph_pool_handle();  // libtorch refuses a pool that no graph holds any more
    device_.wait(capture(work));
  }

  void call(std::function<void()> onHost) override {
    parts_.back().graph->capture_end();
    parts_.back().then = std::move(onHost);
    beginPart();
  }

  void launch() override {
    for (const Part& part : parts_) {
      part.graph->replay();
      if (part.then) part.then();
    }
  }

 private:
  struct Part {
    std::unique_ptr<PartGraph> graph;
    std::function<void()> then = {};
  };

  // Emptying the cache covers all GPUs and waits until each is idle. A GPU with a launched graph may be waiting for
  // another replica. So only a capture before which there is no graph empties it: a run's first one.
  void settle() const {
    c10::cuda::getCurrentCUDAStream(device_.torch().index()).synchronize();
    const std::unique_lock alone(recordings, std::try_to_lock);
    if (!alone || PartGraph::alive > 0) return;
    device_.synchronize();
    c10::cuda::CUDACachingAllocator::emptyCache();
  }

  /// The event that launches must follow: when a capture begins, it writes the generator's state on its stream at once.
  Event capture(const std::function<void()>& work) {
    const c10::cuda::CUDAStreamGuard onStream(stream_.get());
    try {
      beginPart();
      work();
      parts_.back().graph->capture_end();
    } catch (...) {
      if (!parts_.empty()) parts_.back().graph->giveUp();
      parts_.clear();
      throw;
    }
    return device_.record();
  }

  // Parts are launched in sequence and always in this order, so they can share memory as parts of one graph would.
  void beginPart() {
    parts_.push_back({std::make_unique<PartGraph>()});
    parts_.back().graph->begin(generator_, pool_);
  }

  const Device& device_;
  OwnStream stream_;
  c10::MempoolId_t pool_;
  at::Generator generator_;
  std::vector<Part> parts_;
};

}  // namespace

std::unique_ptr<CapturedGraph> makeCapturedGraph(const Device& device) {
  return std::make_unique<CudaCapturedGraph>(device);
}

}  // namespace tandem
