// A library with the functions of NVML that Tandem loads, and GPUs of many kinds. Built with OLD_DRIVER it lacks those
// that drivers had not always. NOLINTBEGIN(readability-identifier-naming)
#include <cstdio>
#include <cstring>

namespace {

[[maybe_unused]] constexpr int ok = 0, invalidArgument = 2, notSupported = 3, notFound = 6, insufficientSize = 7,
                               argumentVersionMismatch = 25;
enum Ends { none, gpus17And65, aSwitch, silent };
struct Gpu {
  const char* address;
  unsigned use, smClock;
  unsigned long long throttleReasons, usedMebibytes;
  unsigned programs;
  Ends ends;                        // of its NVLinks
  unsigned links;                   // that are up; two more are down
  int node, root, bridges, bridge;  // where its PCIe path goes
  unsigned generation, mostLanes;
};
Gpu gpus[] = {
    {"00000000:17:00.0", 71, 1771, 0x4, 2048, 1, gpus17And65, 4, 0, 0, 0, 0, 4, 16},         // of unequal clocks,
    {"00000000:65:00.0", 72, 1683, 0x4 | 0x40, 2048, 2, gpus17And65, 4, 0, 0, 0, 1, 4, 16},  // this slowed by heat
    {"00000000:98:00.0", 0, 1700, 0, 512, 0, aSwitch, 12, 1, 1, 2, 2, 5, 16},
    {"00000000:B1:00.0", 0, 1700, 0, 512, 0, aSwitch, 6, 1, 1, 2, 3, 5, 16},
    {"00000000:C1:00.0", 3, 1700, 0, 5120, 0, none, 0, 1, 2, 4, 4, 3, 16},
    {"00000000:C2:00.0", 0, 1700, 0, 512, 0, none, 0, 1, 2, 5, 5, 3, 8},
    {"00000000:D1:00.0", 0, 1700, 0, 512, 0, silent, 2, 1, 2, 5, 5, 3, 16},
    {"00000000:D2:00.0", 0, 1700, 0, 512, 0, silent, 2, 1, 2, 5, 6, 3, 16},
    {"00000000:E1:00.0", 60, 1700, 0, 512, 0, none, 0, 1, 2, 7, 7, 3, 16},  // idle from the third reading on
};
Gpu& calming = gpus[8];
constexpr unsigned long long reservedMebibytes = 600;  // by the driver

Gpu& gpu(void* device) { return *static_cast<Gpu*>(device); }

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
  static int readings = 0;
  if (&gpu(device) == &calming && ++readings == 3) calming.use = 0;
  gpuAndMemory[0] = gpu(device).use;
  gpuAndMemory[1] = 30;
  return ok;
}

int nvmlDeviceGetMemoryInfo(void* device, unsigned long long* totalFreeUsed) {
  totalFreeUsed[0] = 80ULL << 30;
  totalFreeUsed[2] = (gpu(device).usedMebibytes + reservedMebibytes) << 20;
  totalFreeUsed[1] = totalFreeUsed[0] - totalFreeUsed[2];
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

#ifdef OLD_DRIVER

int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
  return *reasons = gpu(device).throttleReasons, ok;
}

#else

int nvmlDeviceGetCurrentClocksEventReasons(void* device, unsigned long long* reasons) {
  return *reasons = gpu(device).throttleReasons, ok;
}

int nvmlDeviceGetMemoryInfo_v2(void* device, void* info) {
  struct {
    unsigned version;
    unsigned long long total, reserved, free, used;
  } memory;
  std::memcpy(&memory, info, sizeof memory);
  if (memory.version != 0x2000028) return argumentVersionMismatch;
  memory.total = 80ULL << 30;
  memory.reserved = reservedMebibytes << 20;
  memory.used = gpu(device).usedMebibytes << 20;
  memory.free = memory.total - memory.reserved - memory.used;
  std::memcpy(info, &memory, sizeof memory);
  return ok;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, void*) {
  const unsigned room = *count;
  *count = gpu(device).programs;
  return *count > room ? insufficientSize : ok;
}

int nvmlDeviceGetCurrPcieLinkGeneration(void*, unsigned* generation) { return *generation = 1, ok; }
int nvmlDeviceGetCurrPcieLinkWidth(void* device, unsigned* lanes) { return *lanes = gpu(device).mostLanes, ok; }
int nvmlDeviceGetMaxPcieLinkWidth(void* device, unsigned* lanes) { return *lanes = gpu(device).mostLanes, ok; }
int nvmlDeviceGetMaxPcieLinkGeneration(void* device, unsigned* generation) {
  return *generation = gpu(device).generation, ok;
}

int nvmlDeviceGetTopologyCommonAncestor(void* a, void* b, unsigned* level) {
  const Gpu &one = gpu(a), &other = gpu(b);
  *level = one.node != other.node         ? 50
           : one.root != other.root       ? 40
           : one.bridges != other.bridges ? 30
           : one.bridge != other.bridge   ? 20
                                          : 10;
  return ok;
}

// Between nodes nothing; atomics by NVLink alone; of the GPU at D2 nothing is known.
int nvmlDeviceGetP2PStatus(void* a, void* b, unsigned capability, unsigned* status) {
  const Gpu &one = gpu(a), &other = gpu(b);
  if (std::strstr(other.address, ":D2:") != nullptr) return *status = 6, ok;
  if (capability != 0 && capability != 1 && capability != 3) return invalidArgument;
  const bool linked = one.ends != none && one.ends == other.ends;
  *status = one.node == other.node && (capability != 3 || linked) ? 0 : 3;
  return ok;
}

int nvmlDeviceGetNvLinkState(void* device, unsigned link, unsigned* up) {
  if (link >= gpu(device).links + 2) return invalidArgument;
  return *up = link < gpu(device).links ? 1 : 0, ok;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(void* device, unsigned, unsigned* type) {
  if (gpu(device).ends == silent) return notSupported;
  return *type = gpu(device).ends == aSwitch ? 2 : 0, ok;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void* device, unsigned, void* info) {
  constexpr int busId = 16 + 5 * 4;  // in nvmlPciInfo_t
  const Gpu& other = &gpu(device) == &gpus[0] ? gpus[1] : gpus[0];
  std::snprintf(static_cast<char*>(info) + busId, 32, "%s", other.address);
  return ok;
}

#endif

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
