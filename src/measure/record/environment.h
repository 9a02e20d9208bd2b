#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tandem {

/// The link between two GPUs. Texts are "unknown" if the driver does not report them.
struct GpuLink {
  int64_t a = 0, b = 0;         ///< ordinals, the lower first
  std::string path;             ///< in the terms of `nvidia-smi topo -m`: NV4, PIX, PXB, PHB, NODE, SYS
  std::string access, atomics;  ///< to each other's memory: yes, no

  bool operator==(const GpuLink&) const = default;
};

/// A GPU's PCIe link. 0: unknown.
struct GpuSlot {
  int64_t generation = 0, lanes = 0;             ///< at the time of reading: an idle link is often slower
  int64_t largestGeneration = 0, mostLanes = 0;  ///< the most that GPU and system allow

  bool operator==(const GpuSlot&) const = default;
};

/// Facts of the machine and the build that a measurement depends on. A fact that could not be read is "unknown" or 0,
/// never a guess.
struct Environment {
  std::string host, os, kernel, cpu;
  int64_t cores = 0, hardwareThreads = 0, numaNodes = 0, sockets = 0;
  std::vector<std::string> caches;       ///< "L1d 48 KiB", "L2 2 MiB", ...
  std::vector<std::string> cpuFeatures;  ///< those that select kernels: avx2, avx512f, avx512_bf16, amx_bf16, ...
  int64_t memoryBytes = 0, memoryAvailableBytes = 0;
  double load1 = -1;  ///< one-minute load average before the run
  std::string governor;
  std::vector<std::string> devices;              ///< names of the GPUs
  std::map<std::string, std::string> libraries;  ///< name -> version
  std::map<std::string, std::string> variables;  ///< environment variables that change results (OMP_*, LD_PRELOAD, ...)
  std::string tandemVersion, commit;
  bool dirty = false;             ///< built from a tree with uncommitted changes
  std::vector<GpuLink> gpuLinks;  ///< one for every two of `devices`
  std::vector<GpuSlot> gpuSlots;  ///< one for each of `devices`

  bool operator==(const Environment&) const = default;
};

}  // namespace tandem
