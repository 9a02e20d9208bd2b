#include "cli/banner.h"

#include <iomanip>
#include <numeric>
#include <sstream>

#include "base/text.h"
#include "base/utf8.h"
#include "machine/cpu/host_facts.h"
#include "machine/gpu/gpu_topology.h"

namespace tandem {
namespace {

std::string librariesText(const Environment& environment) {
  std::vector<std::string> texts;
  for (const auto& [name, version] : environment.libraries) texts.push_back(concat(name, ' ', version));
  return join(texts);
}

std::string variablesText(const Environment& environment) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : environment.variables) {
    texts.push_back(concat(name, '=', value, overridesPlacement(name) ? " (not passed on)" : ""));
  }
  return join(texts);
}

std::vector<std::string> linkTexts(const Environment& environment) {
  std::vector<int> ordinals(environment.devices.size());
  std::iota(ordinals.begin(), ordinals.end(), 0);
  return linkLines({environment.gpuLinks, environment.gpuSlots}, ordinals);
}

std::string coresText(const Environment& environment) {
  return concat(environment.cores, " usable core(s), ", environment.hardwareThreads, " hardware thread(s), ",
                environment.sockets, " socket(s), ", environment.numaNodes, " NUMA node(s); load ",
                environment.load1 < 0 ? "unknown" : fixed(environment.load1, 2), ", governor ", environment.governor);
}

}  // namespace

std::string bannerText(const Environment& environment) {
  std::ostringstream out;
  const auto line = [&](const char* name, const std::string& text) {
    if (!text.empty()) out << std::left << std::setw(11) << name << withoutControls(text) << '\n';
  };
  const auto bytes = [](int64_t count) { return bytesText(static_cast<double>(count)); };
  line("tandem", concat(environment.tandemVersion, " (commit ", environment.commit.substr(0, 12),
                        environment.dirty ? ", changed" : "", ")"));
  line("system", concat(environment.os, ", ", environment.kernel));
  line("cpu", concat(environment.cpu, "; ", join(environment.cpuFeatures, " ")));
  line("cores", coresText(environment));
  line("caches", join(environment.caches));
  line("memory", concat(bytes(environment.memoryBytes), ", ", bytes(environment.memoryAvailableBytes), " available"));
  line("gpus", environment.devices.empty() ? "none" : join(environment.devices));
  for (const std::string& text : linkTexts(environment)) line("", text);
  line("libraries", librariesText(environment));
  line("variables", variablesText(environment));
  return out.str();
}

}  // namespace tandem
