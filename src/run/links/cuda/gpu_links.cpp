#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "machine/gpu/gpu_topology.h"
#include "run/links/link_arithmetic.h"
#include "run/links/link_order.h"

namespace tandem {
namespace {

void require(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  cudaGetLastError();  // clears it, so that the next call does not report it
  const std::string text = concat("links: ", what, ": ", cudaGetErrorString(result));
  if (result == cudaErrorMemoryAllocation) throw UsageError(text + "; lower the largest of --sizes");
  throw PeerError(text);
}

struct FreeDevice {
  void operator()(void* memory) const { cudaFree(memory); }
};
struct FreePinned {
  void operator()(void* memory) const { cudaFreeHost(memory); }
};
struct FreePageable {
  void operator()(void* memory) const { std::free(memory); }
};
struct DestroyStream {
  void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
};
using Memory = std::shared_ptr<void>;
using Stream = std::unique_ptr<CUstream_st, DestroyStream>;

Memory onGpu(int gpu, int64_t bytes) {
  require(cudaSetDevice(gpu), "cudaSetDevice");
  void* memory = nullptr;
  require(cudaMalloc(&memory, static_cast<size_t>(bytes)), "cudaMalloc");
  return {memory, FreeDevice()};
}

Memory onHost(bool pinned, int64_t bytes) {
  void* memory = nullptr;
  if (pinned) {
    require(cudaMallocHost(&memory, static_cast<size_t>(bytes)), "cudaMallocHost");
    return {memory, FreePinned()};
  }
  memory = std::malloc(static_cast<size_t>(bytes));
  if (memory == nullptr) throw UsageError("links: no memory on the host; lower the largest of --sizes");
  std::memset(memory, 0, static_cast<size_t>(bytes));
  return {memory, FreePageable()};
}

/// The place of memory that is not on a GPU.
constexpr int host = -1;

/// One direction of a transfer.
struct Lane {
  int from = host, to = host;  ///< ordinals
  bool pinned = true;          ///< of the memory on the host
};

/// A lane with its memory and the stream of its GPU.
class Copy {
 public:
  Copy(const Lane& lane, int64_t bytes) : lane_(lane), bytes_(static_cast<size_t>(bytes)) {
    from_ = lane.from == host ? onHost(lane.pinned, bytes) : onGpu(lane.from, bytes);
    to_ = lane.to == host ? onHost(lane.pinned, bytes) : onGpu(lane.to, bytes);
    require(cudaSetDevice(lane.from == host ? lane.to : lane.from), "cudaSetDevice");
    cudaStream_t stream = nullptr;
    require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    stream_.reset(stream);
  }

  void enqueue() const {
    const bool peers = lane_.from != host && lane_.to != host;
    require(peers ? cudaMemcpyPeerAsync(to_.get(), lane_.to, from_.get(), lane_.from, bytes_, stream_.get())
                  : cudaMemcpyAsync(to_.get(), from_.get(), bytes_, cudaMemcpyDefault, stream_.get()),
            "a copy");
  }
  void finish() const { require(cudaStreamSynchronize(stream_.get()), "waiting for a copy"); }

 private:
  Lane lane_;
  size_t bytes_;
  Memory from_, to_;
  Stream stream_;
};

/// Copies that run at once, repeated. A call is one copy of each lane.
LinkTimes timesOf(const std::vector<Lane>& lanes, int64_t bytes, const RepetitionLimits& limits) {
  std::vector<std::unique_ptr<Copy>> copies;
  for (const Lane& lane : lanes) copies.push_back(std::make_unique<Copy>(lane, bytes));
  SoleParty alone;
  LinkTimes times = timesOf(alone, limits, [&](int64_t calls) {
    const Nanos begin = now();
    for (int64_t i = 0; i < calls; ++i) {
      for (const auto& copy : copies) copy->enqueue();
    }
    for (const auto& copy : copies) copy->finish();
    return seconds(now() - begin);
  });
  times.bytes = bytes;
  return times;
}

/// Series that are to be measured.
struct Task {
  LinkSeries series;
  std::vector<Lane> lanes;
  bool peerAccess = false;
};

double statedOf(int gpu) {
  const auto& slots = gpuLinks().slots;
  const auto at = static_cast<size_t>(gpu);
  return at < slots.size() ? pcieBandwidth(slots[at].largestGeneration, slots[at].mostLanes) : 0;
}

/// By the data sheets of PCIe; 0 if a lane's is not known, as that of NVLink.
double statedOf(const std::vector<Lane>& lanes, const std::string& path) {
  if (path.starts_with("NV")) return 0;
  double sum = 0;
  for (const Lane& lane : lanes) {
    const double from = statedOf(lane.from == host ? lane.to : lane.from);
    const double to = statedOf(lane.to == host ? lane.from : lane.to);
    if (from <= 0 || to <= 0) return 0;
    sum += std::min(from, to);
  }
  return sum;
}

Task taskOf(LinkSeries series, std::vector<Lane> lanes, bool peerAccess = false) {
  series.copies = static_cast<int>(lanes.size());
  series.statedBytes = statedOf(lanes, series.path);
  return {std::move(series), std::move(lanes), peerAccess};
}

std::vector<Task> hostTasks(const std::vector<int>& gpus) {
  std::vector<Task> tasks;
  std::vector<Lane> to, from, both;
  for (const int gpu : gpus) {
    const Lane up{.to = gpu}, down{.from = gpu};
    const auto add = [&](const char* way, std::vector<Lane> lanes) {
      tasks.push_back(
          taskOf({.kind = "host-gpu", .link = concat("cuda:", gpu), .path = "PCIe", .way = way}, std::move(lanes)));
    };
    add("pinned, to the GPU", {up});
    add("pinned, from the GPU", {down});
    add("pinned, both directions", {up, down});
    add("pageable, to the GPU", {{.to = gpu, .pinned = false}});
    add("pageable, from the GPU", {{.from = gpu, .pinned = false}});
    to.push_back(up), from.push_back(down);
    both.push_back(up), both.push_back(down);
  }
  if (gpus.size() < 2) return tasks;
  const LinkSeries all{.kind = "host-gpu", .link = concat(gpus.size(), " GPUs at once"), .path = "PCIe", .way = {}};
  for (const auto& [way, lanes] : {std::pair{"pinned, to the GPUs", to}, std::pair{"pinned, from the GPUs", from},
                                   std::pair{"pinned, both directions", both}}) {
    LinkSeries series = all;
    series.way = way;
    tasks.push_back(taskOf(std::move(series), lanes));
  }
  return tasks;
}

bool canAccess(int gpu, int peer) {
  int can = 0;
  require(cudaDeviceCanAccessPeer(&can, gpu, peer), "cudaDeviceCanAccessPeer");
  return can != 0;
}

/// Copies between two GPUs, one and both directions, then between all of them at once.
std::vector<Task> peerTasks(const std::vector<int>& gpus, bool peerAccess) {
  const std::string suffix = peerAccess ? ", peer access on" : ", peer access off";
  std::vector<Task> tasks;
  std::vector<Lane> all;
  const auto add = [&](std::string link, std::string path, std::string_view way, std::vector<Lane> lanes) {
    LinkSeries series{.kind = "gpu-gpu", .link = std::move(link), .path = std::move(path), .way = concat(way, suffix)};
    tasks.push_back(taskOf(std::move(series), std::move(lanes), peerAccess));
  };
  for (size_t i = 0; i < gpus.size(); ++i) {
    for (size_t j = i + 1; j < gpus.size(); ++j) {
      const int a = gpus[i], b = gpus[j];
      if (peerAccess && !(canAccess(a, b) && canAccess(b, a))) continue;
      const Lane there{.from = a, .to = b}, back{.from = b, .to = a};
      const std::string link = concat("cuda:", a, " and cuda:", b);
      const std::string path = pathsAmong(gpuLinks(), std::vector{a, b});
      add(link, path, "one direction", {there});
      add(link, path, "both directions", {there, back});
      all.push_back(there), all.push_back(back);
    }
  }
  if (gpus.size() > 2 && !all.empty()) {
    add(concat(gpus.size(), " GPUs, all pairs at once"), pathsAmong(gpuLinks(), gpus), "both directions", all);
  }
  return tasks;
}

/// Turns peer access between all that can have it on, or off.
void setPeerAccess(const std::vector<int>& gpus, bool on) {
  for (const int gpu : gpus) {
    for (const int peer : gpus) {
      if (gpu == peer || !canAccess(gpu, peer)) continue;
      require(cudaSetDevice(gpu), "cudaSetDevice");
      const cudaError_t result = on ? cudaDeviceEnablePeerAccess(peer, 0) : cudaDeviceDisablePeerAccess(peer);
      const bool wasSo = result == cudaErrorPeerAccessAlreadyEnabled || result == cudaErrorPeerAccessNotEnabled;
      if (!wasSo) require(result, "peer access");
      cudaGetLastError();
    }
  }
}

}  // namespace

void measureGpuCopies(const LinkOrder& order, const LinkSink& sink) {
  std::vector<Task> tasks = hostTasks(order.gpus);
  for (const bool access : {false, true}) {
    for (Task& task : peerTasks(order.gpus, access)) tasks.push_back(std::move(task));
  }
  const RepetitionLimits limits = limitsOf(order, tasks.size());
  for (Task& task : tasks) {
    setPeerAccess(order.gpus, task.peerAccess);
    for (const int64_t bytes : order.sizes) task.series.times.push_back(timesOf(task.lanes, bytes, limits));
    sink(task.series);
  }
}

}  // namespace tandem
