#include "device/device.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "device/gpu_support.h"
#include "machine/cpu/cgroup.h"
#include "machine/cpu/topology.h"
#include "machine/gpu/gpu_facts.h"

namespace tandem {
namespace {

constexpr auto allPools = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);

c10::impl::VirtualGuardImpl guardOf(c10::Device device) { return {device.type()}; }

// At a thread's first parallel loop, libtorch sets its team to the size that any thread set last. So the first loops
// come before this setting: one for the loops in headers, one for those of the library.
void setTeamSize(int threads) {
  at::internal::lazy_init_num_threads();
  at::get_num_threads();
  at::set_num_threads(threads);
}

// {0, 1, 2, 5} -> "0-2,5"
std::string rangesText(std::vector<int> numbers) {
  std::sort(numbers.begin(), numbers.end());
  std::string text;
  for (size_t first = 0; first < numbers.size();) {
    size_t last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += concat(text.empty() ? "" : ",", numbers[first]);
    if (last > first) text += concat("-", numbers[last]);
    first = last + 1;
  }
  return text;
}

/// The value of the line "NAME:   123 kB".
int64_t bytesIn(const char* file, const std::string& name) {
  std::ifstream in(file);
  std::string line;
  while (std::getline(in, line)) {
    if (line.starts_with(name + ':')) return std::stoll(line.substr(name.size() + 1)) * 1024;
  }
  return 0;
}

/// Bytes that a limit of the process (ulimit) leaves. `used`: the member of /proc/self/status that counts against it.
int64_t leftBelow(const rlimit& limit, const char* used) {
  if (limit.rlim_cur == RLIM_INFINITY) return std::numeric_limits<int64_t>::max();
  return std::max<int64_t>(0, static_cast<int64_t>(limit.rlim_cur) - bytesIn("/proc/self/status", used));
}

int64_t hostAvailableBytes() {
  const int64_t available = bytesIn("/proc/meminfo", "MemAvailable");
  rlimit addresses{}, data{};
  check(getrlimit(RLIMIT_AS, &addresses) == 0 && getrlimit(RLIMIT_DATA, &data) == 0, "getrlimit");
  return std::min({available, Cgroup().memoryLeft().value_or(available), leftBelow(addresses, "VmSize"),
                   leftBelow(data, "VmData")});
}

int64_t peakResidentBytes() {
  rusage usage{};
  check(getrusage(RUSAGE_SELF, &usage) == 0, "getrusage");
  return usage.ru_maxrss * 1024;
}

c10::DeviceAllocator& deviceAllocator(c10::Device device) {
  at::globalContext().lazyInitDevice(device.type());
  return *c10::getDeviceAllocator(device.type());
}

}  // namespace

void waitOnHost(const Event& event, Monitor& monitor) {
  if (event) monitor.poll([&event] { return event->query(); });
}

int cudaDeviceCount() { return static_cast<int>(cudaFacts().gpus.size()); }

Device::Device(c10::Device torch, std::string name, std::string label)
    : torch_(torch), name_(std::move(name)), label_(std::move(label)) {}

Device Device::cpu(int index, std::vector<int> hardwareThreads, int64_t teamSize, Locality where) {
  const std::string name = concat("cpu:", index);
  Device device(c10::Device(c10::kCPU), name,
                hardwareThreads.empty() ? name : concat(name, " on cores ", rangesText(hardwareThreads)));
  device.hardwareThreads_ = std::move(hardwareThreads);
  device.teamSize_ = teamSize;
  device.where_ = where;
  return device;
}

Device Device::onCores(int index, const CorePlan& cores, size_t replica) {
  return cpu(index, cores.threadsOf.at(replica), cores.threadsPerReplica,
             {cores.nodeOf.at(replica), cores.cacheOf.at(replica)});
}

Device Device::cpuWithStreams(int index, c10::Device streams) {
  Device device = cpu(index, {}, 0);
  device.streams_ = streams;
  return device;
}

Device Device::cuda(int index) {
  const CudaFacts& facts = cudaFacts();
  if (const auto refusal = gpuRefusal(facts, index); !refusal.empty()) throw UsageError(refusal);
  const std::string name = concat("cuda:", index);
  Device device(c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(index)), name,
                concat(name, ' ', facts.gpus.at(static_cast<size_t>(index)).name));
  device.streams_ = device.torch_;
  return device;
}

void Device::bindHelper() const {
  check(isCpu(), "a helper computes on a CPU");
  if (!hardwareThreads_.empty()) pinThread(hardwareThreads_);
  setTeamSize(1);
}

// A GPU's default stream computes; sideStream() gives others.
void Device::bind() const {
  if (isCpu()) {
    if (!hardwareThreads_.empty()) pinThread(hardwareThreads_);
    if (teamSize_ > 0) setTeamSize(static_cast<int>(teamSize_));
    return;
  }
  at::globalContext().lazyInitDevice(torch_.type());
  const auto guard = guardOf(torch_);
  guard.setDevice(torch_);
  guard.exchangeStream(guard.getDefaultStream(torch_));
}

void Device::synchronize() const {
  if (streams_) guardOf(*streams_).synchronizeDevice(streams_->index());
}

void Device::synchronize(Monitor& monitor) const {
  waitOnHost(record(), monitor);
  synchronize();
}

Event Device::record() const {
  if (!streams_) return nullptr;
  auto event = std::make_shared<c10::Event>(streams_->type());
  event->record(guardOf(*streams_).getStream(*streams_));
  return event;
}

// With streams only the device waits. Without, the event can only be waited for by this thread.
void Device::wait(const Event& event) const {
  if (!event) return;
  if (streams_) {
    event->block(guardOf(*streams_).getStream(*streams_));
  } else {
    event->synchronize();
  }
}

double Device::streamSeconds(const std::function<void()>& enqueue) const {
  check(hasStreams(), "a clock of the device: it has streams");
  const c10::Stream stream = guardOf(*streams_).getStream(*streams_);
  c10::Event begin(stream.device_type(), c10::EventFlag::BACKEND_DEFAULT);  // libtorch's default events have no time
  c10::Event end(stream.device_type(), c10::EventFlag::BACKEND_DEFAULT);
  begin.record(stream);
  enqueue();
  end.record(stream);
  end.synchronize();
  return begin.elapsedTime(end) / 1e3;  // of milliseconds
}

std::optional<c10::Stream> Device::sideStream() const {
  if (!streams_) return std::nullopt;
  return guardOf(*streams_).getStreamFromGlobalPool(*streams_);
}

c10::TensorOptions Device::hostMemory() const { return c10::TensorOptions().pinned_memory(!isCpu()); }

int64_t Device::availableBytes() const {
  if (isCpu()) return hostAvailableBytes();
  return static_cast<int64_t>(deviceAllocator(torch_).getMemoryInfo(torch_.index()).first);
}

int64_t Device::peakBytes() const {
  if (isCpu()) return peakResidentBytes();
  return deviceAllocator(torch_).getDeviceStats(torch_.index()).allocated_bytes.at(allPools).peak;
}

int64_t Device::peakReservedBytes() const {
  if (isCpu()) return 0;
  return deviceAllocator(torch_).getDeviceStats(torch_.index()).reserved_bytes.at(allPools).peak;
}

void Device::forgetMemory() const {
  if (isCpu()) return;
  c10::DeviceAllocator& allocator = deviceAllocator(torch_);
  allocator.emptyCache();
  allocator.resetPeakStats(torch_.index());
}

}  // namespace tandem
