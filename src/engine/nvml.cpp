#include "engine/nvml.h"

#include <dlfcn.h>

namespace tandem {
namespace {

using Status = int;  // 0: success
struct Utilization {
  unsigned gpu, memory;  // percent
};
struct Memory {
  unsigned long long total, free, used;  // bytes
};

constexpr unsigned gpuSensor = 0, smClock = 1, memoryClock = 2;
// Bits of the throttle reasons: hardware slowdown, software and hardware thermal slowdown, power brake.
constexpr unsigned long long slowedBits = 0x8 | 0x20 | 0x40 | 0x80;
constexpr double mebibyte = 1024.0 * 1024.0;

template <class Function>
bool load(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

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
  Status (*throttleReasons)(Device, unsigned long long*);

  bool loadFrom(void* library) {
    return load(library, "nvmlInit_v2", init) && load(library, "nvmlShutdown", shutdown) &&
           load(library, "nvmlDeviceGetHandleByPciBusId_v2", handle) &&
           load(library, "nvmlDeviceGetUtilizationRates", utilization) &&
           load(library, "nvmlDeviceGetMemoryInfo", memory) && load(library, "nvmlDeviceGetPowerUsage", power) &&
           load(library, "nvmlDeviceGetTemperature", temperature) && load(library, "nvmlDeviceGetClockInfo", clock) &&
           load(library, "nvmlDeviceGetTotalEnergyConsumption", energy) &&
           load(library, "nvmlDeviceGetCurrentClocksThrottleReasons", throttleReasons);
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

std::optional<double> Nvml::slowed(Device device) const {
  unsigned long long reasons = 0;
  if (functions_->throttleReasons(device, &reasons) != 0) return {};
  return (reasons & slowedBits) != 0 ? 1 : 0;
}

}  // namespace tandem
