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
#include <vector>

namespace tandem {
namespace {

// Shared by replicas that record. Meanwhile nobody may wait for a whole device that records, nor have libtorch empty
// its caches, which it does of all GPUs at once.
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

/// A stream that nobody else has: those of libtorch's pool are dealt to several, producers among them. It is kept for
/// the next who asks, since the allocator goes on naming memory by the stream that took it.
class OwnStream {
 public:
  explicit OwnStream(c10::DeviceIndex device) : stream_(take(device)) {}
  ~OwnStream() {
    const std::lock_guard lock(mutex);
    kept.push_back(stream_);
  }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;

  c10::cuda::CUDAStream get() const { return stream_; }

 private:
  static c10::cuda::CUDAStream take(c10::DeviceIndex device) {
    const std::lock_guard lock(mutex);
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

  static inline std::mutex mutex;
  static inline std::vector<c10::cuda::CUDAStream> kept;

  c10::cuda::CUDAStream stream_;
};

/// libtorch's graph, of one generator's numbers and with an end for a capture that fails.
class PartGraph final : public at::cuda::CUDAGraph {
 public:
  /// Replicas of a GPU share its default generator, which libtorch takes into every graph: a launch of one would find
  /// it amid the other's capture. No step draws from it, so it is let go.
  void begin(const at::Generator& generator, c10::MempoolId_t pool) {
    const std::lock_guard lock(defaultGenerators);
    register_generator_state(generator);
    const auto own = captured_generator_states_;
    // Other replicas' threads go on meanwhile: what they call is none of this graph's business.
    capture_begin(pool, cudaStreamCaptureModeThreadLocal);
    for (const auto& [state, increment] : captured_generator_states_) {
      if (own.find(state) == own.end()) leave(*state);
    }
    captured_generator_states_ = own;
  }

  /// Ends what begin() began or failed to. Where capture_end() throws at its first call, which ends the capture, the
  /// rest of it is left undone: the allocators would go on taking the stream for one that records, with this graph's
  /// say, and generators would refuse to draw.
  void giveUp() noexcept {
    if (succeeds([this] { capture_end(); })) return;
    if (capture_dev_ != UNDEFINED_DEVICE) endAllocations();
    const std::lock_guard lock(defaultGenerators);
    for (const auto& [state, increment] : captured_generator_states_) leave(*state);
    captured_generator_states_.clear();
  }

 private:
  // Where there is no end there was no beginning, or the destructor gives the pool back.
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

  // As CUDAGeneratorState's capture_epilogue() and unregister_graph(), which the library does not export.
  void leave(at::CUDAGeneratorState& state) {
    state.capturing_ = false;
    state.registered_graphs_.erase(this);
    if (!state.registered_graphs_.empty()) return;
    state.seed_extragraph_.reset();
    state.offset_extragraph_.reset();
  }

  static inline std::mutex defaultGenerators;  // libtorch has none for the graphs of a generator
};

class CudaCapturedGraph final : public CapturedGraph {
 public:
  explicit CudaCapturedGraph(const Device& device)
      : device_(device), stream_(device.torch().index()), pool_(at::cuda::graph_pool_handle()) {}

  // The default stream cannot be captured; a graph that was may be launched there. What eager steps left in the
  // allocator's cache is of no use to the graphs' own pool.
  void record(const std::function<void()>& work, const at::Generator& generator) override {
    settle();
    const std::shared_lock recording(recordings);
    generator_ = generator;
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

  // Caches are those of all GPUs, and memory is given back when a GPU has nothing left to do: with a launched graph it
  // may wait for another replica. So only the process's first recording empties them, before any launch.
  void settle() const {
    static std::atomic_flag emptied;
    c10::cuda::getCurrentCUDAStream(device_.torch().index()).synchronize();
    const std::unique_lock alone(recordings, std::try_to_lock);
    if (!alone || emptied.test_and_set()) return;
    device_.synchronize();
    c10::cuda::CUDACachingAllocator::emptyCache();
  }

  /// What a launch comes after: as a capture begins, the generator's state is written at once, on its stream.
  Event capture(const std::function<void()>& work) {
    const c10::cuda::CUDAStreamGuard onStream(stream_.get());
    try {
      beginPart();
      work();
      parts_.back().graph->capture_end();
    } catch (...) {
      if (!parts_.empty()) parts_.back().graph->giveUp();
      throw;
    }
    return device_.record();
  }

  // Launched one after another, always in this order, parts share memory as parts of one graph would.
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
