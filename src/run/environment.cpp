#include "run/environment.h"

#include <ATen/Version.h>
#include <gnu/libc-version.h>
#include <hwloc.h>
#include <sys/utsname.h>
#include <torch/headeronly/version.h>
#include <unistd.h>

#include <cstdlib>

#include "base/text.h"
#include "base/version.h"
#include "device/device.h"
#include "device/gpu_support.h"
#include "kernels/conv/convolution.h"
#include "kernels/cudnn/execution_plans.h"
#include "machine/cpu/host_facts.h"
#include "machine/cpu/topology.h"
#include "machine/gpu/gpu_topology.h"

namespace tandem {
namespace {

std::string governor() {
  const auto text = textOf("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  return text.empty() ? "unknown" : split(text, "\n").front();
}

void readHost(Environment& environment) {
  utsname system{};
  const bool known = uname(&system) == 0;
  environment.host = hostName();
  environment.kernel = known ? concat(system.sysname, ' ', system.release) : "unknown";
  environment.os = osName(textOf("/etc/os-release"));
  environment.governor = governor();
  if (getloadavg(&environment.load1, 1) != 1) environment.load1 = -1;
  environment.memoryBytes = memoryField(textOf("/proc/meminfo"), "MemTotal");
  environment.memoryAvailableBytes = Device::cpu(0, {}, 1).availableBytes();
}

void readProcessor(Environment& environment) {
  const std::string& cpuinfo = cpuInfo();
  environment.cpu = cpuModel(cpuinfo);
  environment.cpuFeatures = cpuFeatures(cpuinfo);
  const auto topology = readTopology();
  environment.cores = static_cast<int64_t>(topology.cores.size());
  environment.hardwareThreads = topology.hardwareThreads;
  environment.numaNodes = topology.numaNodes;
  environment.sockets = topology.sockets;
  environment.caches = topology.caches;
}

}  // namespace

std::map<std::string, std::string> libraryVersions() {
  auto versions = gpuLibraries();
  versions["libtorch"] = TORCH_VERSION;
  versions["oneDNN"] = versionNumber(at::get_mkldnn_version());
  if (const auto own = convolutionLibrary(); !own.empty()) versions["convolutions"] = own;
  if (const auto engines = cudnnVersions(); !engines.empty()) versions["convolution-engines"] = engines;
  versions["hwloc"] = HWLOC_VERSION;
  versions["glibc"] = gnu_get_libc_version();
  return versions;
}

Environment readEnvironment() {
  Environment environment;
  readHost(environment);
  readProcessor(environment);
  for (const auto& gpu : cudaFacts().gpus) environment.devices.push_back(gpu.name);
  environment.gpuLinks = gpuLinks().pairs;
  environment.gpuSlots = gpuLinks().slots;
  environment.libraries = libraryVersions();
  environment.variables = resultVariables(environ);
  const auto build = version();
  environment.tandemVersion = build.number;
  environment.commit = build.commit;
  environment.dirty = build.dirty;
  return environment;
}

}  // namespace tandem
