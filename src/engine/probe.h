#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tandem {

struct Quantity {
  std::string device, name, unit;
};

/// Reads some quantities of some devices. Used by one thread at a time.
class Probe {
 public:
  virtual ~Probe() = default;
  /// The same at every call.
  virtual std::vector<Quantity> quantities() const = 0;
  /// One value for each quantity; NaN: could not be read.
  virtual void read(std::span<double> values) = 0;
  /// Energy that the devices have taken so far; empty without a meter.
  virtual std::optional<double> joules() { return std::nullopt; }
};

using Probes = std::vector<std::unique_ptr<Probe>>;

/// Use of each of `cpus` by all programs (%), resident memory of this process (MiB), and where the system lets
/// it be read the power of the processors by RAPL (W). `root` is prepended to /proc and /sys (tests).
std::unique_ptr<Probe> hostProbe(std::vector<int> cpus, const std::string& root = "");

/// A GPU as the run names it, with the address by which NVML knows it ("00000000:17:00.0").
struct ProbedGpu {
  std::string device, pciBusId;
};

/// The GPUs of these ordinals. REQUIRES: they exist.
std::vector<ProbedGpu> probedGpus(std::span<const int> ordinals);

/// Where NVIDIA's driver keeps NVML; loaded when it is first needed.
inline constexpr const char* nvmlLibrary = "libnvidia-ml.so.1";

/// Use, memory, power, temperature, SM and memory clocks of GPUs, the number of programs that compute on them, and what
/// slows them (measure/telemetry.h). Null without GPUs, or when `library` cannot be loaded.
std::unique_ptr<Probe> nvmlProbe(std::vector<ProbedGpu> gpus, const char* library = nvmlLibrary);

}  // namespace tandem
