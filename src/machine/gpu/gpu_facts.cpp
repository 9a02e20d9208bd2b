#include "machine/gpu/gpu_facts.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace tandem {
namespace {

constexpr int minorNumbers = 10;

/// The number at the start of a text, and the rest.
struct Leading {
  int number = 0;
  std::string_view rest;
};

std::optional<Leading> leadingNumber(std::string_view text) {
  Leading found;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), found.number);
  if (error != std::errc()) return std::nullopt;
  found.rest = text.substr(static_cast<size_t>(end - text.data()));
  return found;
}

Architecture& entryOf(std::vector<Architecture>& all, int capability) {
  const auto at = std::ranges::lower_bound(all, capability, {}, &Architecture::capability);
  if (at != all.end() && at->capability == capability) return *at;
  return *all.insert(at, Architecture{.capability = capability});
}

}  // namespace

std::vector<Architecture> architecturesOfFlags(std::string_view flags) {
  std::vector<Architecture> found;
  for (const auto& [prefix, kind] : {std::pair{std::string_view("code=sm_"), &Architecture::machineCode},
                                     std::pair{std::string_view("code=compute_"), &Architecture::portable}}) {
    for (size_t at = flags.find(prefix); at != flags.npos; at = flags.find(prefix, at + 1)) {
      const auto leading = leadingNumber(flags.substr(at + prefix.size()));
      // Code for sm_90a or sm_100f serves only a few kernels, so it does not count.
      const bool extra = leading && (leading->rest.starts_with("a") || leading->rest.starts_with("f"));
      if (leading && !extra) entryOf(found, leading->number).*kind = true;
    }
  }
  return found;
}

std::vector<Architecture> architecturesOfList(std::string_view list) {
  std::vector<Architecture> found;
  for (const std::string& entry : split(list, "; ")) {
    const auto leading = leadingNumber(entry);
    if (!leading) continue;
    Architecture& architecture = entryOf(found, leading->number);
    if (leading->rest != "-virtual") architecture.machineCode = true;
    if (leading->rest != "-real") architecture.portable = true;
  }
  return found;
}

bool runsOn(std::span<const Architecture> architectures, int capability) {
  return architectures.empty() || std::ranges::any_of(architectures, [capability](const Architecture& one) {
           const bool sameMajor = one.capability / minorNumbers == capability / minorNumbers;
           return one.capability <= capability && (one.portable || (one.machineCode && sameMajor));
         });
}

std::string capabilityText(int capability) { return concat(capability / minorNumbers, '.', capability % minorNumbers); }

std::string capabilitiesText(std::span<const Architecture> architectures) {
  if (architectures.empty()) return "unknown";
  std::string text;
  for (size_t i = 0; i < architectures.size(); ++i) {
    const bool last = i + 1 == architectures.size();
    text += concat(i == 0 ? "" : last ? " and " : ", ", capabilityText(architectures[i].capability));
  }
  return text + (std::ranges::any_of(architectures, &Architecture::portable) ? " and newer" : "");
}

}  // namespace tandem
