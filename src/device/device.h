#pragma once

#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <c10/core/TensorOptions.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/monitor.h"

namespace c10 {
struct Event;
}

namespace tandem {

/// A point in a device's work. Empty on a device without streams, whose work is done when the call returns.
using Event = std::shared_ptr<c10::Event>;

/// Blocks the calling thread until `event` has happened. Throws PeerError if the run is aborted first: work that waits
/// for a failed replica may never end.
void waitOnHost(const Event& event, Monitor& monitor);

/// Where the cores of a CPU device are.
struct Locality {
  int memoryNode = 0;  ///< NUMA node
  int cache = 0;       ///< last cache, numbered through the machine (Core::cache)
};

struct CorePlan;

/// One device as a replica sees it: a fixed set of pinned cores, or a GPU with its current stream.
///
/// bind() must run first on the replica's thread; record() and wait() act on that thread's current stream. The
/// object is immutable and may be read from any thread.
class Device {
 public:
  /// A group of cores. If `hardwareThreads` is empty, threads are not pinned.
  static Device cpu(int index, std::vector<int> hardwareThreads, int64_t teamSize, Locality where = {});
  /// The cores that `cores` gives to replica number `replica`.
  static Device onCores(int index, const CorePlan& cores, size_t replica);
  /// A CPU device whose work is ordered by events on the current stream of `streams`, as a GPU's is. Tests use it to
  /// see what a strategy does with streams without a GPU.
  static Device cpuWithStreams(int index, c10::Device streams);
  /// Throws UsageError with the text of gpuRefusal() if this GPU cannot be used.
  static Device cuda(int index);

  c10::Device torch() const { return torch_; }
  bool isCpu() const { return torch_.is_cpu(); }
  /// Whether calls only enqueue work, which events then order.
  bool hasStreams() const { return streams_.has_value(); }
  const std::string& name() const { return name_; }    ///< "cpu:0", "cuda:1": the value of --parameter-device
  const std::string& label() const { return label_; }  ///< "cpu:0 on cores 0-1", "cuda:0 NVIDIA H200"

  /// NUMA node; devices of one node reach each other's memory equally fast.
  int memoryNode() const { return where_.memoryNode; }
  /// Devices of one cache exchange fastest. 0 for a GPU.
  int cache() const { return where_.cache; }

  /// Pins the calling thread, sets the size of its OpenMP team, and makes the GPU and its default stream current.
  void bind() const;
  /// On a CPU: pins the calling thread likewise, which computes alone.
  void bindHelper() const;
  void synchronize() const;
  /// As waitOnHost() for all work of this device. For work that may wait for another replica.
  void synchronize(Monitor& monitor) const;
  Event record() const;
  /// Makes later work of this device's current stream wait for `event`, without blocking the host. On a CPU device the
  /// calling thread waits. An empty event has happened.
  void wait(const Event& event) const;
  /// Seconds that this device's current stream is busy with what `enqueue` puts there, by the device's own clock. Waits
  /// for it. REQUIRES: hasStreams().
  double streamSeconds(const std::function<void()>& enqueue) const;
  /// A stream beside the computing one, which a thread can make current (c10::StreamGuard); nullopt without streams.
  std::optional<c10::Stream> sideStream() const;
  /// Options of host memory that this device can copy to and from without the host: pinned for a GPU, plain for a CPU.
  c10::TensorOptions hostMemory() const;

  /// Bytes that can still be allocated. CPU: MemAvailable, capped by the cgroup and the process's limits. GPU: its free
  /// memory.
  int64_t availableBytes() const;
  /// Peak bytes in use since the process started. CPU: resident set size. GPU: allocated bytes.
  int64_t peakBytes() const;
  /// Peak bytes that libtorch's allocator reserved on this GPU, used or not; 0 on a CPU.
  int64_t peakReservedBytes() const;
  /// GPU only: frees the unused memory that libtorch's allocator holds, and resets the peaks.
  void forgetMemory() const;

 private:
  Device(c10::Device torch, std::string name, std::string label);
  c10::Device torch_;
  std::string name_, label_;
  std::vector<int> hardwareThreads_;
  int64_t teamSize_ = 0;
  Locality where_;
  std::optional<c10::Device>
      streams_;  // its current stream orders the work; nullopt: a call returns when its work is done
};

/// The number of GPUs that this process sees; 0 in a build without CUDA. Does not create a context.
int cudaDeviceCount();

}  // namespace tandem
