#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/record.h"
#include "report/figures.h"

namespace tandem {

/// A published figure beside a run.
struct PublishedMatch {
  Facts figure;
  double imagesPerSecond = 0;  ///< of the figure; per device where the numbers of devices differ
  bool perDevice = false;
  double percent = 0;                    ///< the run's images/s relative to it
  std::vector<std::string> differences;  ///< "batch 256/128": of the run, then of the figure
};

/// The figure with a rate that is nearest to a run, among those of its network on its device. Near is, in this order:
/// the number of devices, the precision, the batch per device, the layout, the input, the strategy; then the newest
/// figure and the highest. Of CPUs the whole machine is one device. Empty for an unknown device or network, for a run
/// that did not finish, and where an image is other work: it has not the network's own size, or the run only goes
/// forward.
std::optional<PublishedMatch> nearestPublished(const RunRecord& record, const Figures& figures);

/// Whether a device that calls itself `name` ("Tesla P100-SXM2-16GB") is the one that people call `published`
/// ("P100"): it has the word that tells the model (the first with a digit in it), and is no variant (Ti, Super, ...) of
/// it that the other is not.
bool isDevice(const std::string& name, const std::string& published);

/// What a run computed on, as it calls itself: the GPU of its first replica, or the processor. Empty when unknown.
std::string deviceOf(const RunRecord& record);

}  // namespace tandem
