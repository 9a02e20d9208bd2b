#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "base/text.h"
#include "device/recorded_work.h"

namespace tandem {
namespace {

class CudaGraphWork final : public RecordedWork {
 public:
  explicit CudaGraphWork(const Device& device)
      : device_(device), stream_(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device.torch().index())) {}

  // The default stream cannot be captured; a graph that was may be launched there. What eager steps left in the
  // allocator's cache is of no use to the graph's own pool.
  void record(const std::function<void()>& work, const at::Generator& generator) override {
    device_.synchronize();
    c10::cuda::CUDACachingAllocator::emptyCache();
    graph_.register_generator_state(generator);
    const c10::cuda::CUDAStreamGuard onStream(stream_);
    try {
      // Other replicas' threads go on meanwhile: what they call is none of this graph's business.
      graph_.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
      work();
      graph_.capture_end();
    } catch (const std::exception& failure) {
      endCapture();
      // libtorch's texts go on with a trace of the call.
      throw RecordingFailed(firstLine(failure.what()));
    }
  }

  void launch() override { graph_.replay(); }

 private:
  void endCapture() noexcept {
    try {
      graph_.capture_end();
    } catch (const std::exception&) {  // it had ended, or ends as the failure that is reported already
    }
  }

  const Device& device_;
  c10::cuda::CUDAStream stream_;
  at::cuda::CUDAGraph graph_;
};

}  // namespace

std::unique_ptr<RecordedWork> makeRecordedWork(const Device& device) { return std::make_unique<CudaGraphWork>(device); }

}  // namespace tandem
