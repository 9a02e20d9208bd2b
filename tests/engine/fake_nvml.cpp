// A library with the functions of NVML that Tandem loads: two GPUs of unequal clocks, the second slowed by heat.
// NOLINTBEGIN(readability-identifier-naming)
#include <cstring>

namespace {

constexpr int ok = 0, notFound = 6;
struct Gpu {
  const char* address;
  unsigned use, smClock;
  unsigned long long throttleReasons;
};
Gpu gpus[] = {{"00000000:17:00.0", 71, 1771, 0x4}, {"00000000:65:00.0", 72, 1683, 0x4 | 0x40}};

const Gpu& gpu(void* device) { return *static_cast<Gpu*>(device); }

}  // namespace

extern "C" {

int nvmlInit_v2() { return ok; }
int nvmlShutdown() { return ok; }

int nvmlDeviceGetHandleByPciBusId_v2(const char* address, void** device) {
  for (Gpu& one : gpus) {
    if (std::strcmp(one.address, address) != 0) continue;
    *device = &one;
    return ok;
  }
  return notFound;
}

int nvmlDeviceGetUtilizationRates(void* device, unsigned* gpuAndMemory) {
  gpuAndMemory[0] = gpu(device).use;
  gpuAndMemory[1] = 30;
  return ok;
}

int nvmlDeviceGetMemoryInfo(void*, unsigned long long* totalFreeUsed) {
  totalFreeUsed[0] = 80ULL << 30;
  totalFreeUsed[1] = 78ULL << 30;
  totalFreeUsed[2] = 2ULL << 30;
  return ok;
}

int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) { return *milliwatts = 350'500, ok; }
int nvmlDeviceGetTemperature(void*, unsigned sensor, unsigned* degrees) { return *degrees = 64 + sensor, ok; }

int nvmlDeviceGetClockInfo(void* device, unsigned type, unsigned* megahertz) {
  if (type != 1 && type != 2) return notFound;
  *megahertz = type == 1 ? gpu(device).smClock : 2619;
  return ok;
}

int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) { return *millijoules = 1'234'500, ok; }

int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
  return *reasons = gpu(device).throttleReasons, ok;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
