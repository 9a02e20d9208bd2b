#include "device/device.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "base/text.h"
#include "device/cgroup.h"
#include "device/cuda_properties.h"
#include "device/topology.h"

namespace tandem {
namespace {

c10::impl::VirtualGuardImpl guardOf(c10::Device device) { return {device.type()}; }

// At a thread's first parallel loop libtorch gives it the size that was set last, on whatever thread. So that comes
// first: here for the loops of this program (a header's), then for those of the library.
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

int64_t hostAvailableBytes() {
  std::ifstream in("/proc/meminfo");
  std::string line;
  int64_t available = 0;
  while (std::getline(in, line)) {
    if (line.starts_with("MemAvailable:")) available = std::stoll(line.substr(13)) * 1024;
  }
  return std::min(available, Cgroup().memoryLeft().value_or(available));
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

int cudaDeviceCount() { return at::detail::getCUDAHooks().getNumGPUs(); }

Device::Device(c10::Device torch, std::string name, std::string label)
    : torch_(torch), name_(std::move(name)), label_(std::move(label)) {}

Device Device::cpu(int index, std::vector<int> hardwareThreads, int64_t teamSize, int memoryNode) {
  const std::string name = concat("cpu:", index);
  Device device(c10::Device(c10::kCPU), name,
                hardwareThreads.empty() ? name : concat(name, " on cores ", rangesText(hardwareThreads)));
  device.hardwareThreads_ = std::move(hardwareThreads);
  device.teamSize_ = teamSize;
  device.memoryNode_ = memoryNode;
  return device;
}

Device Device::cuda(int index) {
  const std::string name = concat("cuda:", index);
  if (!builtWithCuda())
    throw UsageError(concat("--devices=", name,
                            ": this build has no CUDA; use --devices=cpu, or "
                            "build the cuda preset"));
  const int count = cudaDeviceCount();
  if (count == 0) throw UsageError(concat("--devices=", name, ": no NVIDIA GPU or driver is found; use --devices=cpu"));
  if (index < 0 || index >= count) {
    throw UsageError(concat("--devices=", name, ": this machine has ", count, " GPU", count == 1 ? "" : "s",
                            "; use an index from 0 to ", count - 1));
  }
  return {c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(index)), name, name + " " + cudaDeviceName(index)};
}

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
  if (!isCpu()) guardOf(torch_).synchronizeDevice(torch_.index());
}

Event Device::record() const {
  if (isCpu()) return nullptr;
  auto event = std::make_shared<c10::Event>(torch_.type());
  event->record(guardOf(torch_).getStream(torch_));
  return event;
}

void Device::wait(const Event& event) const {
  if (!event) return;
  if (isCpu()) {
    event->synchronize();
  } else {
    event->block(guardOf(torch_).getStream(torch_));
  }
}

int64_t Device::availableBytes() const {
  if (isCpu()) return hostAvailableBytes();
  return static_cast<int64_t>(deviceAllocator(torch_).getMemoryInfo(torch_.index()).first);
}

int64_t Device::peakBytes() const {
  if (isCpu()) return peakResidentBytes();
  constexpr auto all = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  return deviceAllocator(torch_).getDeviceStats(torch_.index()).allocated_bytes.at(all).peak;
}

}  // namespace tandem
