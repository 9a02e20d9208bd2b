#include "machine/gpu/gpu_utilization.h"

#include <algorithm>
#include <thread>

#include "base/text.h"

namespace tandem {
namespace {

// A driver and a desktop stay below these.
constexpr double idlePercent = 5, idleMebibytes = 1024;
constexpr double bytesPerMebibyte = 1024 * 1024;
constexpr auto pause = std::chrono::milliseconds(100);

bool isBusy(const GpuUse& use) {
  return use.programs.value_or(0) > 0 || use.percent.value_or(0) > idlePercent ||
         use.mebibytes.value_or(0) > idleMebibytes;
}

std::vector<GpuUse> usesOf(std::span<const ProbedGpu> gpus, const Nvml* nvml) {
  std::vector<GpuUse> uses;
  for (const ProbedGpu& gpu : gpus) {
    GpuUse& use = uses.emplace_back(GpuUse{.device = gpu.device, .percent = {}, .mebibytes = {}, .programs = {}});
    const Nvml::Device device = nvml == nullptr ? nullptr : nvml->device(gpu.pciBusId);
    if (device == nullptr) continue;
    use.percent = nvml->usePercent(device);
    use.mebibytes = nvml->memoryMebibytes(device);
    use.programs = nvml->programs(device);
  }
  return uses;
}

}  // namespace

std::vector<GpuUse> readGpuUse(std::span<const ProbedGpu> gpus, const char* library) {
  return settledGpuUse(gpus, Nanos{}, library);
}

std::vector<GpuUse> settledGpuUse(std::span<const ProbedGpu> gpus, Nanos patience, const char* library) {
  const auto nvml = gpus.empty() ? nullptr : Nvml::open(library);
  const Nanos begin = now();
  auto uses = usesOf(gpus, nvml.get());
  while (std::ranges::any_of(uses, isBusy) && now() - begin < patience) {
    std::this_thread::sleep_for(pause);
    uses = usesOf(gpus, nvml.get());
  }
  return uses;
}

std::vector<std::string> busyLines(std::span<const GpuUse> uses) {
  std::vector<std::string> lines;
  for (const GpuUse& use : uses) {
    if (!isBusy(use)) continue;
    const auto percent = use.percent ? concat(fixed(*use.percent, 0), " % used") : std::string("use unknown");
    const auto memory =
        use.mebibytes ? concat(bytesText(*use.mebibytes * bytesPerMebibyte), " held") : std::string("memory unknown");
    const auto programs = use.programs ? concat(*use.programs) : std::string("an unknown number of");
    lines.push_back(
        concat(use.device, " is busy: ", percent, ", ", memory, ", by ", programs, " computing program(s)"));
  }
  return lines;
}

std::optional<double> largestUse(std::span<const GpuUse> uses) {
  std::optional<double> largest;
  for (const GpuUse& use : uses) {
    if (use.percent) largest = std::max(largest.value_or(0), *use.percent / 100);
  }
  return largest;
}

std::string exclusionOf(const GpuFacts& gpu, const GpuUse& use) {
  if (!gpu.exclusive || use.programs.value_or(0) == 0) return "";
  return concat("--devices=", use.device, ": ", gpu.name, " is in an exclusive compute mode and ", *use.programs,
                " program(s) compute on it; end them, or let nvidia-smi --compute-mode=DEFAULT allow several");
}

int64_t freeBytes(const GpuFacts& gpu, const GpuUse& use) {
  return gpu.memoryBytes - static_cast<int64_t>(use.mebibytes.value_or(0) * bytesPerMebibyte);
}

}  // namespace tandem
