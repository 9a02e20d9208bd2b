#include "engine/gpu_facts.h"

namespace tandem {

std::vector<GpuFacts> gpuFacts() { return {}; }
std::map<std::string, std::string> gpuLibraries() { return {}; }

}  // namespace tandem
