#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

/// A GPU with its name in the run and its PCI address, by which NVML finds it ("00000000:17:00.0").
struct ProbedGpu {
  std::string device, pciBusId;
};

/// The GPUs with these ordinals. REQUIRES: they exist.
std::vector<ProbedGpu> probedGpus(std::span<const int> ordinals);

/// File name of NVML, which NVIDIA's driver installs. It is loaded at first use.
inline constexpr const char* nvmlLibrary = "libnvidia-ml.so.1";

/// The functions of NVML, NVIDIA's management library, that Tandem uses. They are declared here instead of in nvml.h,
/// and loaded at run time. So builds without CUDA have them too, and machines without NVIDIA's driver do not need the
/// library. Types, numbers and units are those of the NVML API reference. One thread at a time may use an object.
class Nvml {
 public:
  using Device = void*;

  /// Null if the library cannot be loaded, lacks a function or does not start.
  static std::unique_ptr<Nvml> open(const char* library);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// Null if NVML does not know the address.
  Device device(const std::string& pciBusId) const;

  struct SlowReason {
    std::string_view name;
    unsigned long long bit;
  };
  /// The reasons for lowered clocks: a power cap that somebody set, and unwanted ones (measure/profile/telemetry.h).
  /// Idle clocks and clocks that somebody set are not among them.
  static std::span<const SlowReason> slowReasons();

  // Empty: this GPU does not report it.
  std::optional<double> usePercent(Device) const;
  std::optional<double> memoryMebibytes(Device) const;  ///< allocated; older drivers include their own reserve
  std::optional<double> watts(Device) const;
  std::optional<double> celsius(Device) const;
  std::optional<double> smMegahertz(Device) const;
  std::optional<double> memoryMegahertz(Device) const;
  std::optional<double> joules(Device) const;  ///< since the driver was loaded
  /// Bits of slowReasons(): why the clocks are lower now than they could be.
  std::optional<unsigned long long> slowedBy(Device) const;
  std::optional<double> programs(Device) const;  ///< number of processes that compute on it now, this one included

  /// 0: not reported.
  struct Pcie {
    unsigned generation = 0, lanes = 0;             ///< current link; an idle link is often slower
    unsigned largestGeneration = 0, mostLanes = 0;  ///< the most that GPU and system allow
  };
  Pcie pcie(Device) const;

  /// The other ends of a GPU's active NVLinks.
  struct NvLinks {
    std::vector<Device> gpus;  ///< one entry per link
    int switches = 0;          ///< links to an NVSwitch
    int unknown = 0;           ///< links that do not report their end
  };
  NvLinks nvLinks(Device) const;

  /// The level of nvmlGpuTopologyLevel_t at which the paths of two GPUs meet.
  std::optional<unsigned> commonAncestor(Device, Device) const;
  /// Whether each can read and write the other's memory, and whether atomically.
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
