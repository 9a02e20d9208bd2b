#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "base/text.h"
#include "device/recorded_work.h"

namespace tandem {
namespace {

// Shared by replicas that record. Meanwhile nobody may wait for a whole device that records, nor have libtorch empty
// its caches, which it does of all GPUs at once.
std::shared_mutex recordings;

class CudaGraphWork final : public RecordedWork {
 public:
  explicit CudaGraphWork(const Device& device)
      : device_(device),
        stream_(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device.torch().index())),
        pool_(at::cuda::graph_pool_handle()) {}

  // The default stream cannot be captured; a graph that was may be launched there. What eager steps left in the
  // allocator's cache is of no use to the graphs' own pool.
  void record(const std::function<void()>& work, const at::Generator& generator) override {
    settle();
    const std::shared_lock recording(recordings);
    generator_ = generator;
    const c10::cuda::CUDAStreamGuard onStream(stream_);
    try {
      beginPart();
      work();
      parts_.back().graph->capture_end();
    } catch (const std::exception& failure) {
      endCapture();
      // libtorch's texts go on with a trace of the call.
      throw RecordingFailed(firstLine(failure.what()));
    }
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
    std::unique_ptr<at::cuda::CUDAGraph> graph;
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

  // Launched one after another, always in this order, parts share memory as parts of one graph would.
  void beginPart() {
    parts_.push_back({std::make_unique<at::cuda::CUDAGraph>()});
    at::cuda::CUDAGraph& graph = *parts_.back().graph;
    graph.register_generator_state(generator_);
    // Other replicas' threads go on meanwhile: what they call is none of this graph's business.
    graph.capture_begin(pool_, cudaStreamCaptureModeThreadLocal);
  }

  void endCapture() noexcept {
    try {
      parts_.back().graph->capture_end();
    } catch (const std::exception&) {  // it had ended, or ends as the failure that is reported already
    }
  }

  const Device& device_;
  c10::cuda::CUDAStream stream_;
  c10::MempoolId_t pool_;
  at::Generator generator_;
  std::vector<Part> parts_;
};

}  // namespace

std::unique_ptr<RecordedWork> makeRecordedWork(const Device& device) { return std::make_unique<CudaGraphWork>(device); }

}  // namespace tandem
