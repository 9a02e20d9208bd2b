#include "run/plan/kernel_notes.h"

#include <algorithm>

#include "base/text.h"

namespace tandem {
namespace {

std::string whenText(const Measured& measured) {
  if (!measured.fromCache()) return "measured now";
  const std::string when = measured.oldest();
  return concat("measured ", when.empty() ? "before" : when, " and kept in the cache");
}

std::string forText(const KernelFinding& finding) {
  if (finding.replicas == 0) return "";
  return concat(" for ", finding.replicas, finding.replicas == 1 ? " replica" : " replicas");
}

std::string detailsOf(const KernelSelection& kernels, const Graph& graph, const KernelFinding& finding) {
  std::vector<std::string> passes;
  for (const auto& [name, count] : passesOf(kernels, graph)) passes.push_back(concat(count, ' ', name));
  const auto norms = std::ranges::count_if(kernels.norms, [](const NormPlans& norm) { return norm.images > 0; });
  const std::string threads = finding.replicas == 0 ? "" : concat(" of ", finding.threads, " thread(s)");
  return concat("convolutions run in ", kernels.layout.name, ", their passes by ", join(passes),
                norms > 0 ? concat(", ", norms, " batch-norms by cuDNN") : "", ": ", fixed(finding.gain, 2),
                " times as fast as ", kernels.engines.empty() ? "the default" : "ATen and Tandem's kernels", "; chosen",
                forText(finding), threads, ", ", whenText(*finding.measured), "; a typical sample is ",
                fixed(100 * finding.measured->spread(), 1), " % above the least");
}

}  // namespace

void addKernelNotes(KernelSelection& kernels, const Graph& graph, const KernelFinding& finding) {
  const Measured& measured = *finding.measured;
  if (measured.jobs == 0) return;
  kernels.details = detailsOf(kernels, graph, finding);
  if (finding.gain > 1) {
    kernels.notes.push_back(concat("kernels chosen by measurement", forText(finding), ": ", fixed(finding.gain, 2),
                                   "x as fast as the default (tandem plan show)"));
  }
  if (measured.postponed > 0) {
    kernels.notes.push_back(concat("kernels: ", measured.postponed, " of ", measured.jobs,
                                   " measurements did not fit into the time for choosing; what they are of runs by the "
                                   "default, the next run measures it"));
  }
  const auto disturbed = [](const auto& timing) { return !timing.second.keeps; };
  if (!measured.disturbances.empty()) {
    kernels.notes.push_back(concat("kernels were chosen while ", join(measured.disturbances, " and "),
                                   "; the next run measures them again"));
  } else if (std::ranges::any_of(measured.timings, disturbed)) {
    kernels.notes.emplace_back(
        "kernels were chosen by times that something disturbed; the next run measures them again");
  }
}

}  // namespace tandem
