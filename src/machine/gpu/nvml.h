#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

/// A GPU as the run names it, with the address by which NVML knows it ("00000000:17:00.0").
struct ProbedGpu {
  std::string device, pciBusId;
};

/// The GPUs of these ordinals. REQUIRES: they exist.
std::vector<ProbedGpu> probedGpus(std::span<const int> ordinals);

/// Where NVIDIA's driver keeps NVML; loaded when it is first needed.
inline constexpr const char* nvmlLibrary = "libnvidia-ml.so.1";

/// The part of NVIDIA's management library that Tandem reads. Declared here, not taken from nvml.h, and loaded at run
/// time: a build without CUDA has it too, and a machine without NVIDIA's driver does not need it. Types, numbers and
/// units are those of the NVML API reference. Used by one thread at a time.
class Nvml {
 public:
  using Device = void*;

  /// Null when the library cannot be loaded, lacks a function or does not start.
  static std::unique_ptr<Nvml> open(const char* library);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// Null for an address that NVML does not know.
  Device device(const std::string& pciBusId) const;

  struct SlowReason {
    std::string_view name;
    unsigned long long bit;
  };
  /// A power cap that was set (measure/profile/telemetry.h), and what nobody asked for. Idle clocks and those that were
  /// set are no reasons.
  static std::span<const SlowReason> slowReasons();

  // Empty: this GPU does not say.
  std::optional<double> usePercent(Device) const;
  std::optional<double> memoryMebibytes(Device) const;  ///< allocated; of an older driver with its own reserve
  std::optional<double> watts(Device) const;
  std::optional<double> celsius(Device) const;
  std::optional<double> smMegahertz(Device) const;
  std::optional<double> memoryMegahertz(Device) const;
  std::optional<double> joules(Device) const;  ///< since the driver was loaded
  /// Bits of slowReasons(): why the clocks are lower now than they could be.
  std::optional<unsigned long long> slowedBy(Device) const;
  std::optional<double> programs(Device) const;  ///< that compute on it now, this one included

  /// 0: it does not say.
  struct Pcie {
    unsigned generation = 0, lanes = 0;             ///< now: an idle link is often slower
    unsigned largestGeneration = 0, mostLanes = 0;  ///< that GPU and system allow
  };
  Pcie pcie(Device) const;

  /// What the NVLinks of a GPU that are up end at.
  struct NvLinks {
    std::vector<Device> gpus;  ///< one entry a link
    int switches = 0;          ///< links to an NVSwitch
    int unknown = 0;           ///< links that do not say
  };
  NvLinks nvLinks(Device) const;

  /// The level of nvmlGpuTopologyLevel_t at which the paths of two GPUs meet.
  std::optional<unsigned> commonAncestor(Device, Device) const;
  /// Whether each reads and writes the other's memory; whether atomically.
  std::optional<bool> peerAccess(Device, Device) const;
  std::optional<bool> peerAtomics(Device, Device) const;

 private:
  struct Functions;
  Nvml(void* library, const Functions& functions);
  std::optional<double> clock(Device, unsigned type) const;
  std::optional<bool> peerStatus(Device, Device, unsigned capability) const;

  void* library_;
  std::unique_ptr<Functions> functions_;
};

}  // namespace tandem
