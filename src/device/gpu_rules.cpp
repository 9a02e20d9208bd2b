#include "device/gpu_rules.h"

#include <algorithm>

#include "base/text.h"

namespace tandem {
namespace {

constexpr const char* orCpu = ", or use --devices=cpu";
constexpr size_t halfBytes = 2;

std::string versionText(int version) { return concat(version / 1000, '.', version % 1000 / 10); }

/// CUDA's minor versions need no newer driver than the first of their major version does.
int leastDriver(const CudaFacts& facts) { return facts.runtimeVersion / 1000 * 1000; }

std::string hiddenText(const CudaFacts& facts) {
  return facts.visible ? concat(" (CUDA_VISIBLE_DEVICES=", *facts.visible, " hides all others)") : "";
}

/// What speaks against every GPU.
std::string refusalOfAll(const CudaFacts& facts) {
  if (!facts.built) return concat("this build has no CUDA; run one that has (make cuda, docs/GPUS.md)", orCpu);
  if (facts.driverVersion == 0) {
    return concat("there is no NVIDIA driver here (libcuda.so.1 is missing); install it", orCpu);
  }
  if (facts.driverVersion < leastDriver(facts)) {
    return concat("the NVIDIA driver serves CUDA up to ", versionText(facts.driverVersion), ", this build needs ",
                  versionText(leastDriver(facts)), " or newer; install a newer driver", orCpu);
  }
  if (!facts.failure.empty()) {
    return concat("CUDA cannot list the GPUs: ", facts.failure, "; see what nvidia-smi says", orCpu);
  }
  if (facts.gpus.empty()) return concat("no NVIDIA GPU is found", hiddenText(facts), "; use --devices=cpu");
  return "";
}

std::string refusalOfOne(const CudaFacts& facts, const GpuFacts& gpu) {
  if (!runsOn(facts.libtorch, gpu.capability)) {
    return concat(gpu.name, " has compute capability ", capabilityText(gpu.capability),
                  ", the libtorch of this build serves ", capabilitiesText(facts.libtorch),
                  "; build with one that serves it (TANDEM_LIBTORCH, docs/GPUS.md)", orCpu);
  }
  if (!runsOn(facts.kernels, gpu.capability)) {
    return concat(gpu.name, " has compute capability ", capabilityText(gpu.capability),
                  ", Tandem's kernels were built for ", capabilitiesText(facts.kernels),
                  "; build them with -DCMAKE_CUDA_ARCHITECTURES=", gpu.capability, " (docs/GPUS.md)", orCpu);
  }
  if (gpu.prohibited) {
    return concat(gpu.name, " is in compute mode Prohibited; let nvidia-smi --compute-mode=DEFAULT allow it", orCpu);
  }
  return "";
}

}  // namespace

std::string gpuRefusal(const CudaFacts& facts, int index) {
  std::string reason = refusalOfAll(facts);
  const auto count = static_cast<int>(facts.gpus.size());
  if (reason.empty() && (index < 0 || index >= count)) {
    reason = concat("there ", count == 1 ? "is 1 GPU" : concat("are ", count, " GPUs"), " here", hiddenText(facts),
                    "; use an index from 0 to ", count - 1);
  }
  if (reason.empty()) reason = refusalOfOne(facts, facts.gpus.at(static_cast<size_t>(index)));
  return reason.empty() ? "" : concat("--devices=cuda:", index, ": ", reason);
}

const Precision* halfPrecision(std::span<const GpuFacts> gpus) {
  for (const Precision& precision : precisions()) {
    const auto computes = [&](const GpuFacts& gpu) { return gpu.capability >= precision.capability; };
    if (c10::elementSize(precision.compute) == halfBytes && std::ranges::all_of(gpus, computes)) return &precision;
  }
  return nullptr;
}

}  // namespace tandem
