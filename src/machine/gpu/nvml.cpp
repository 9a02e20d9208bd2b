#include "machine/gpu/nvml.h"

#include <dlfcn.h>

#include <array>

#include "base/text.h"
#include "machine/gpu/gpu_facts.h"
#include "measure/profile/telemetry.h"

namespace tandem {
namespace {

using Status = int;  // 0: success
struct Utilization {
  unsigned gpu, memory;  // percent
};
struct Memory {
  unsigned long long total, free, used;  // bytes
};
struct MemoryV2 {
  unsigned version;
  unsigned long long total, reserved, free, used;  // bytes
};
struct Process;  // only counted, never read
struct PciInfo {
  char legacyBusId[16];
  unsigned domain, bus, device, deviceId, subsystemId;
  char busId[32];
};

constexpr unsigned gpuSensor = 0, smClock = 1, memoryClock = 2;
constexpr unsigned memoryVersion = sizeof(MemoryV2) | (2U << 24);  // NVML_STRUCT_VERSION
constexpr std::array<Nvml::SlowReason, 5> reasonRows{{
    {powerCap, 0x4},
    {"hardware", 0x8},
    {"heat (software)", 0x20},
    {"heat (hardware)", 0x40},
    {"power brake", 0x80},
}};
constexpr Status success = 0, insufficientSize = 7;
constexpr unsigned mostNvLinks = 18;
constexpr unsigned nvLinkToGpu = 0, nvLinkToSwitch = 2, nvLinkToNobody = 0xff;  // nvmlIntNvLinkDeviceType_t
constexpr unsigned peerRead = 0, peerWrite = 1, peerAtomic = 3;                 // nvmlGpuP2PCapsIndex_t
constexpr unsigned peerOk = 0, peerUnknown = 6;                                 // nvmlGpuP2PStatus_t
constexpr double mebibyte = 1024.0 * 1024.0;

template <class Function>
bool load(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

std::vector<ProbedGpu> probedGpus(std::span<const int> ordinals) {
  std::vector<ProbedGpu> found;
  for (const int ordinal : ordinals) {
    found.push_back({concat("cuda:", ordinal), cudaFacts().gpus.at(static_cast<size_t>(ordinal)).pciBusId});
  }
  return found;
}

struct Nvml::Functions {
  Status (*init)();
  Status (*shutdown)();
  Status (*handle)(const char*, Device*);
  Status (*utilization)(Device, Utilization*);
  Status (*memory)(Device, Memory*);
  Status (*power)(Device, unsigned*);
  Status (*temperature)(Device, unsigned, unsigned*);
  Status (*clock)(Device, unsigned, unsigned*);
  Status (*energy)(Device, unsigned long long*);

  // Null if the driver does not have them: an old one, or a new one that has dropped a deprecated name.
  Status (*slowReasons)(Device, unsigned long long*);
  Status (*memoryV2)(Device, MemoryV2*);
  Status (*processes)(Device, unsigned*, Process*);
  Status (*generation)(Device, unsigned*);
  Status (*lanes)(Device, unsigned*);
  Status (*largestGeneration)(Device, unsigned*);
  Status (*mostLanes)(Device, unsigned*);
  Status (*commonAncestor)(Device, Device, unsigned*);
  Status (*peerStatus)(Device, Device, unsigned, unsigned*);
  Status (*nvLinkState)(Device, unsigned, unsigned*);
  Status (*nvLinkRemoteType)(Device, unsigned, unsigned*);
  Status (*nvLinkRemotePci)(Device, unsigned, PciInfo*);

  void loadOptionalFrom(void* library) {
    if (!load(library, "nvmlDeviceGetCurrentClocksEventReasons", slowReasons)) {
      load(library, "nvmlDeviceGetCurrentClocksThrottleReasons", slowReasons);  // its name before driver 535
    }
    load(library, "nvmlDeviceGetMemoryInfo_v2", memoryV2);
    load(library, "nvmlDeviceGetComputeRunningProcesses_v3", processes);
    load(library, "nvmlDeviceGetCurrPcieLinkGeneration", generation);
    load(library, "nvmlDeviceGetCurrPcieLinkWidth", lanes);
    load(library, "nvmlDeviceGetMaxPcieLinkGeneration", largestGeneration);
    load(library, "nvmlDeviceGetMaxPcieLinkWidth", mostLanes);
    load(library, "nvmlDeviceGetTopologyCommonAncestor", commonAncestor);
    load(library, "nvmlDeviceGetP2PStatus", peerStatus);
    load(library, "nvmlDeviceGetNvLinkState", nvLinkState);
    load(library, "nvmlDeviceGetNvLinkRemoteDeviceType", nvLinkRemoteType);
    load(library, "nvmlDeviceGetNvLinkRemotePciInfo_v2", nvLinkRemotePci);
  }

  bool loadFrom(void* library) {
    loadOptionalFrom(library);
    return load(library, "nvmlInit_v2", init) && load(library, "nvmlShutdown", shutdown) &&
           load(library, "nvmlDeviceGetHandleByPciBusId_v2", handle) &&
           load(library, "nvmlDeviceGetUtilizationRates", utilization) &&
           load(library, "nvmlDeviceGetMemoryInfo", memory) && load(library, "nvmlDeviceGetPowerUsage", power) &&
           load(library, "nvmlDeviceGetTemperature", temperature) && load(library, "nvmlDeviceGetClockInfo", clock) &&
           load(library, "nvmlDeviceGetTotalEnergyConsumption", energy);
  }
};

std::unique_ptr<Nvml> Nvml::open(const char* name) {
  void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  Functions functions{};
  if (functions.loadFrom(library) && functions.init() == 0) return std::unique_ptr<Nvml>(new Nvml(library, functions));
  dlclose(library);
  return nullptr;
}

Nvml::Nvml(void* library, const Functions& functions)
    : library_(library), functions_(std::make_unique<Functions>(functions)) {}

Nvml::~Nvml() {
  functions_->shutdown();
  dlclose(library_);
}

Nvml::Device Nvml::device(const std::string& pciBusId) const {
  Device found = nullptr;
  return functions_->handle(pciBusId.c_str(), &found) == 0 ? found : nullptr;
}

std::optional<double> Nvml::usePercent(Device device) const {
  Utilization use{};
  if (functions_->utilization(device, &use) != 0) return {};
  return use.gpu;
}

std::optional<double> Nvml::memoryMebibytes(Device device) const {
  MemoryV2 apart{.version = memoryVersion, .total = 0, .reserved = 0, .free = 0, .used = 0};
  if (functions_->memoryV2 != nullptr && functions_->memoryV2(device, &apart) == success) {
    return static_cast<double>(apart.used) / mebibyte;
  }
  Memory memory{};
  if (functions_->memory(device, &memory) != 0) return {};
  return static_cast<double>(memory.used) / mebibyte;
}

std::optional<double> Nvml::watts(Device device) const {
  unsigned milliwatts = 0;
  if (functions_->power(device, &milliwatts) != 0) return {};
  return milliwatts / 1e3;
}

std::optional<double> Nvml::celsius(Device device) const {
  unsigned degrees = 0;
  if (functions_->temperature(device, gpuSensor, &degrees) != 0) return {};
  return degrees;
}

std::optional<double> Nvml::clock(Device device, unsigned type) const {
  unsigned megahertz = 0;
  if (functions_->clock(device, type, &megahertz) != 0) return {};
  return megahertz;
}

std::optional<double> Nvml::smMegahertz(Device device) const { return clock(device, smClock); }
std::optional<double> Nvml::memoryMegahertz(Device device) const { return clock(device, memoryClock); }

std::optional<double> Nvml::joules(Device device) const {
  unsigned long long millijoules = 0;
  if (functions_->energy(device, &millijoules) != 0) return {};
  return static_cast<double>(millijoules) / 1e3;
}

std::span<const Nvml::SlowReason> Nvml::slowReasons() { return reasonRows; }

std::optional<unsigned long long> Nvml::slowedBy(Device device) const {
  unsigned long long reasons = 0;
  if (functions_->slowReasons == nullptr || functions_->slowReasons(device, &reasons) != 0) return {};
  return reasons;
}

std::optional<double> Nvml::programs(Device device) const {
  if (functions_->processes == nullptr) return {};
  unsigned count = 0;
  const Status status = functions_->processes(device, &count, nullptr);
  if (status != success && status != insufficientSize) return {};
  return count;
}

Nvml::Pcie Nvml::pcie(Device device) const {
  const auto read = [device](Status (*function)(Device, unsigned*)) {
    unsigned value = 0;
    return function != nullptr && function(device, &value) == success ? value : 0U;
  };
  return {.generation = read(functions_->generation),
          .lanes = read(functions_->lanes),
          .largestGeneration = read(functions_->largestGeneration),
          .mostLanes = read(functions_->mostLanes)};
}

Nvml::NvLinks Nvml::nvLinks(Device device) const {
  NvLinks links;
  if (functions_->nvLinkState == nullptr) return links;
  for (unsigned link = 0; link < mostNvLinks; ++link) {
    unsigned up = 0;
    if (functions_->nvLinkState(device, link, &up) != success || up == 0) continue;
    unsigned type = nvLinkToNobody;
    if (functions_->nvLinkRemoteType != nullptr) functions_->nvLinkRemoteType(device, link, &type);
    PciInfo other{};
    const bool named = type == nvLinkToGpu && functions_->nvLinkRemotePci != nullptr &&
                       functions_->nvLinkRemotePci(device, link, &other) == success;
    Device gpu = named ? this->device(other.busId) : nullptr;
    if (gpu != nullptr) {
      links.gpus.push_back(gpu);
    } else {
      ++(type == nvLinkToSwitch ? links.switches : links.unknown);
    }
  }
  return links;
}

std::optional<unsigned> Nvml::commonAncestor(Device a, Device b) const {
  unsigned level = 0;
  if (functions_->commonAncestor == nullptr || functions_->commonAncestor(a, b, &level) != success) return {};
  return level;
}

std::optional<bool> Nvml::peerStatus(Device a, Device b, unsigned capability) const {
  unsigned status = peerUnknown;
  if (functions_->peerStatus == nullptr || functions_->peerStatus(a, b, capability, &status) != success) return {};
  if (status == peerUnknown) return {};
  return status == peerOk;
}

std::optional<bool> Nvml::peerAccess(Device a, Device b) const {
  const auto reads = peerStatus(a, b, peerRead), writes = peerStatus(a, b, peerWrite);
  if (!reads || !writes) return {};
  return *reads && *writes;
}

std::optional<bool> Nvml::peerAtomics(Device a, Device b) const { return peerStatus(a, b, peerAtomic); }

}  // namespace tandem
