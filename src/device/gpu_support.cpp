#include "device/gpu_support.h"

#include <ATen/detail/CUDAHooksInterface.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace tandem {
namespace {

constexpr const char* orCpu = ", or use --devices=cpu";
constexpr size_t halfBytes = 2;

struct CycleFlops {
  int capability;
  double fp32, tf32, half;  // of one multiprocessor; 0: unknown
};
constexpr std::array cycleFlops{CycleFlops{80, 128, 1024, 2048},  CycleFlops{86, 256, 0, 0},
                                CycleFlops{89, 256, 0, 0},        CycleFlops{90, 256, 2048, 4096},
                                CycleFlops{100, 256, 4096, 8192}, CycleFlops{120, 256, 0, 0}};

std::string versionText(int version) { return concat(version / 1000, '.', version % 1000 / 10); }

/// Minor version compatibility of CUDA: a driver of the first minor version of a major version is enough.
int leastDriver(const CudaFacts& facts) { return facts.runtimeVersion / 1000 * 1000; }

std::string hiddenText(const CudaFacts& facts) {
  return facts.visible ? concat(" (CUDA_VISIBLE_DEVICES=", *facts.visible, " hides all others)") : "";
}

/// The reason why no GPU can be used; empty: there is none.
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

StatedPeaks statedPeaks(const GpuFacts& gpu, const Precision& precision) {
  constexpr double hertz = 1e3, transfersPerCycle = 2, bitsPerByte = 8;
  StatedPeaks peaks;
  peaks.bytes = transfersPerCycle * static_cast<double>(gpu.memoryKilohertz) * hertz * gpu.memoryBusBits / bitsPerByte;
  const auto row = std::ranges::find(cycleFlops, gpu.capability, &CycleFlops::capability);
  if (row == cycleFlops.end()) return peaks;
  const bool half = c10::elementSize(precision.compute) == halfBytes;
  const double flops = half ? row->half : precision.tf32 ? row->tf32 : row->fp32;
  peaks.flops = flops * gpu.multiprocessors * static_cast<double>(gpu.coreKilohertz) * hertz;
  return peaks;
}

std::map<std::string, std::string> gpuLibraries() {
  const CudaFacts& facts = cudaFacts();
  if (!facts.built) return {};
  std::map<std::string, std::string> versions;
  versions["cuda"] =
      concat(versionText(facts.runtimeVersion), " (compute capability ", capabilitiesText(facts.libtorch),
             " by libtorch; ", capabilitiesText(facts.kernels), " by Tandem's kernels)");
  if (facts.driverVersion > 0) versions["cuda-driver-api"] = versionText(facts.driverVersion);
  if (at::detail::getCUDAHooks().compiledWithCuDNN()) {
    const auto cudnn = at::detail::getCUDAHooks().versionRuntimeCuDNN();
    versions["cudnn"] = concat(cudnn / 10000, '.', cudnn / 100 % 100, '.', cudnn % 100);
  }
  return versions;
}

}  // namespace tandem
