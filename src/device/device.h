#pragma once

#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <c10/core/TensorOptions.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/monitor.h"

namespace c10 {
struct Event;
}

namespace tandem {

/// A point in a device's work. Empty without streams, where work is done when the call returns.
using Event = std::shared_ptr<c10::Event>;

/// Blocks the calling thread until `event` has happened. Throws PeerError where the run is aborted before: work that
/// waits for a replica that failed may never end.
void waitOnHost(const Event& event, Monitor& monitor);

/// One device as a replica sees it: a fixed set of pinned cores, or a GPU with its current stream.
///
/// bind() must run first on the replica's thread; record() and wait() act on that thread's current stream. The
/// object is immutable and may be read from any thread.
class Device {
 public:
  /// A CPU logical device. An empty `hardwareThreads` leaves the thread where it is. `memoryNode`: the NUMA node of its
  /// cores.
  static Device cpu(int index, std::vector<int> hardwareThreads, int64_t teamSize, int memoryNode = 0);
  /// Memory and work on the CPU, ordered by events as a GPU's is, on the current stream of `streams`: what a strategy
  /// does with streams can be seen without a GPU.
  static Device cpuWithStreams(int index, c10::Device streams);
  /// Throws UsageError with gpuRefusal()'s words where this GPU cannot be used.
  static Device cuda(int index);

  c10::Device torch() const { return torch_; }
  bool isCpu() const { return torch_.is_cpu(); }
  /// Whether work goes on after the call that enqueued it, ordered by events.
  bool hasStreams() const { return streams_.has_value(); }
  const std::string& name() const { return name_; }    ///< "cpu:0", "cuda:1": what --parameter-device names
  const std::string& label() const { return label_; }  ///< "cpu:0 on cores 0-1", "cuda:0 NVIDIA H200"

  int memoryNode() const { return memoryNode_; }  ///< devices of one node reach each other's memory equally fast

  /// Pins the calling thread, sets the size of its OpenMP team, makes the GPU and its stream current.
  void bind() const;
  void synchronize() const;
  /// As waitOnHost(), for all of this device's work: where it may wait for another replica.
  void synchronize(Monitor& monitor) const;
  Event record() const;
  /// Later work of this device's current stream waits for `event`, without blocking the host; a CPU device has no
  /// stream, so there the calling thread waits. An empty event has happened.
  void wait(const Event& event) const;
  /// A stream beside the one that computes, for a thread to make current (c10::StreamGuard); none without streams.
  std::optional<c10::Stream> sideStream() const;
  /// Host memory from and to which this device copies without the host: pinned for a GPU, plain for a CPU.
  c10::TensorOptions hostMemory() const;

  /// Bytes that could still be allocated: MemAvailable capped by the cgroup and the process's limits, or free GPU
  /// memory.
  int64_t availableBytes() const;
  /// Peak bytes in use since the process started: resident set, or allocated on this GPU.
  int64_t peakBytes() const;
  /// Peak bytes that libtorch's allocator held of this GPU, in use or not; 0 on a CPU: not known.
  int64_t peakReservedBytes() const;
  /// Of a GPU: what libtorch's allocator holds and nobody uses is given back, and the peaks begin anew.
  void forgetMemory() const;

 private:
  Device(c10::Device torch, std::string name, std::string label);
  c10::Device torch_;
  std::string name_, label_;
  std::vector<int> hardwareThreads_;
  int64_t teamSize_ = 0;
  int memoryNode_ = 0;
  std::optional<c10::Device> streams_;  // whose current stream orders the work; none: a call returns when it is done
};

/// GPUs this process sees; 0 in a build without CUDA. Does not create a context.
int cudaDeviceCount();

}  // namespace tandem
