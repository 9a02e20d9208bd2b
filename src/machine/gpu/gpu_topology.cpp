#include "machine/gpu/gpu_topology.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>

#include "base/text.h"
#include "machine/gpu/gpu_facts.h"

namespace tandem {
namespace {

constexpr const char* unknown = "unknown";
constexpr size_t cellWidth = 8;

/// The name in `nvidia-smi topo -m` of a level of nvmlGpuTopologyLevel_t. Two GPUs on one board are behind one bridge.
std::string pathOfLevel(std::optional<unsigned> level) {
  static const std::map<unsigned, const char*> words{{0, "PIX"},  {10, "PIX"},  {20, "PXB"},
                                                     {30, "PHB"}, {40, "NODE"}, {50, "SYS"}};
  const auto word = level ? words.find(*level) : words.end();
  return word == words.end() ? unknown : word->second;
}

/// A GPU and the other ends of its NVLinks.
struct End {
  Nvml::Device device = nullptr;
  Nvml::NvLinks links;
};

std::string pathBetween(const Nvml& nvml, const End& a, const End& b) {
  if (a.device == nullptr || b.device == nullptr) return unknown;
  const auto direct = std::ranges::count(a.links.gpus, b.device);
  const auto switched = std::min(a.links.switches, b.links.switches);
  if (direct > 0 || switched > 0) return concat("NV", direct > 0 ? direct : switched);
  if (a.links.unknown > 0 && b.links.unknown > 0) return unknown;  // some of them may meet
  return pathOfLevel(nvml.commonAncestor(a.device, b.device));
}

std::string wordOf(std::optional<bool> fact) { return !fact ? unknown : *fact ? "yes" : "no"; }

std::string padded(const std::string& text) {
  const size_t space = text.size() < cellWidth ? cellWidth - text.size() : 1;
  return text + std::string(space, ' ');
}

std::string trimmed(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

const GpuLink* linkOf(const GpuLinks& links, int a, int b) {
  const auto at = std::ranges::find_if(
      links.pairs, [&](const GpuLink& link) { return link.a == std::min(a, b) && link.b == std::max(a, b); });
  return at == links.pairs.end() ? nullptr : &*at;
}

std::vector<std::string> matrix(const GpuLinks& links, std::span<const int> ordinals) {
  std::vector<std::string> lines{padded("")};
  for (const int to : ordinals) lines.front() += padded(concat("cuda:", to));
  for (const int from : ordinals) {
    std::string line = padded(concat("cuda:", from));
    for (const int to : ordinals) {
      const GpuLink* link = linkOf(links, from, to);
      line += padded(from == to ? "X" : link == nullptr ? unknown : link->path);
    }
    lines.push_back(line);
  }
  std::ranges::transform(lines, lines.begin(), trimmed);
  return lines;
}

/// "peer access yes, atomics no: all pairs", or a list of pairs per answer.
std::vector<std::string> accessLines(const GpuLinks& links, std::span<const int> ordinals) {
  std::map<std::string, std::vector<std::string>> pairs;
  for (size_t i = 0; i < ordinals.size(); ++i) {
    for (size_t j = i + 1; j < ordinals.size(); ++j) {
      const GpuLink* link = linkOf(links, ordinals[i], ordinals[j]);
      const auto answer = link == nullptr ? concat("peer access ", unknown, ", atomics ", unknown)
                                          : concat("peer access ", link->access, ", atomics ", link->atomics);
      pairs[answer].push_back(concat(ordinals[i], '-', ordinals[j]));
    }
  }
  std::vector<std::string> lines;
  for (const auto& [answer, which] : pairs) {
    lines.push_back(concat(answer, ": ", pairs.size() == 1 ? "all pairs" : join(which, " ")));
  }
  return lines;
}

std::string pcieText(const GpuLinks& links, int ordinal) {
  const auto at = static_cast<size_t>(ordinal);
  const GpuSlot slot = at < links.slots.size() ? links.slots[at] : GpuSlot{};
  const auto number = [](int64_t value) { return value == 0 ? std::string(unknown) : concat(value); };
  return concat("gen ", number(slot.generation), " x", number(slot.lanes), " now, gen ", number(slot.largestGeneration),
                " x", number(slot.mostLanes), " at most");
}

std::string pcieLine(const GpuLinks& links, std::span<const int> ordinals) {
  std::vector<std::string> texts;
  for (const int ordinal : ordinals) texts.push_back(pcieText(links, ordinal));
  const bool alike = std::ranges::all_of(texts, [&](const std::string& text) { return text == texts.front(); });
  if (alike) return concat("PCIe ", texts.front());
  for (size_t i = 0; i < texts.size(); ++i) texts[i] = concat("cuda:", ordinals[i], ' ', texts[i]);
  return concat("PCIe ", join(texts, "; "));
}

}  // namespace

GpuLinks readGpuLinks(std::span<const ProbedGpu> gpus, const char* library) {
  GpuLinks links;
  const auto nvml = gpus.empty() ? nullptr : Nvml::open(library);
  if (!nvml) return links;
  std::vector<End> ends;
  for (const ProbedGpu& gpu : gpus) {
    const Nvml::Device device = nvml->device(gpu.pciBusId);
    ends.push_back({device, device == nullptr ? Nvml::NvLinks{} : nvml->nvLinks(device)});
    const auto pcie = device == nullptr ? Nvml::Pcie{} : nvml->pcie(device);
    links.slots.push_back({pcie.generation, pcie.lanes, pcie.largestGeneration, pcie.mostLanes});
  }
  for (size_t a = 0; a < ends.size(); ++a) {
    for (size_t b = a + 1; b < ends.size(); ++b) {
      const bool known = ends[a].device != nullptr && ends[b].device != nullptr;
      const auto ask = [&](auto question) {
        return wordOf(known ? ((*nvml).*question)(ends[a].device, ends[b].device) : std::nullopt);
      };
      links.pairs.push_back({static_cast<int64_t>(a), static_cast<int64_t>(b), pathBetween(*nvml, ends[a], ends[b]),
                             ask(&Nvml::peerAccess), ask(&Nvml::peerAtomics)});
    }
  }
  return links;
}

const GpuLinks& gpuLinks() {
  static const GpuLinks links = [] {
    std::vector<int> ordinals(cudaFacts().gpus.size());
    std::iota(ordinals.begin(), ordinals.end(), 0);
    return readGpuLinks(probedGpus(ordinals));
  }();
  return links;
}

std::string pathsAmong(const GpuLinks& links, std::span<const int> ordinals) {
  std::vector<std::string> paths;
  for (size_t i = 0; i < ordinals.size(); ++i) {
    for (size_t j = i + 1; j < ordinals.size(); ++j) {
      const GpuLink* link = linkOf(links, ordinals[i], ordinals[j]);
      const std::string path = link == nullptr ? unknown : link->path;
      if (std::ranges::find(paths, path) == paths.end()) paths.push_back(path);
    }
  }
  return join(paths);
}

std::vector<std::string> linkLines(const GpuLinks& links, std::span<const int> ordinals) {
  std::vector<std::string> lines;
  if (ordinals.empty()) return lines;
  if (ordinals.size() > 1) {
    lines = matrix(links, ordinals);
    std::ranges::copy(accessLines(links, ordinals), std::back_inserter(lines));
  }
  lines.push_back(pcieLine(links, ordinals));
  return lines;
}

}  // namespace tandem
