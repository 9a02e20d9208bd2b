#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "measure/record/record.h"
#include "report/analysis/data_points.h"

namespace tandem {

/// A published figure beside a run.
struct PublishedMatch {
  Facts figure;
  double imagesPerSecond = 0;  ///< of the figure; per device where the numbers of devices differ
  bool perDevice = false;
  double percent = 0;                    ///< the run's images/s relative to it
  std::vector<std::string> differences;  ///< "batch 256/128": of the run, then of the figure
};

/// Finds the figure with a rate that is nearest to a run, among those of its network on its device. Near is, in this
/// order: the number of devices, the precision, the batch per device, the layout, the input, the strategy; then the
/// newest figure and the highest. Of CPUs the whole machine is one device. Empty for an unknown device or network, for
/// a run that did not finish, and where an image is other work: it has not the network's own size, or the run only goes
/// forward.
class NearestPublished {
 public:
  explicit NearestPublished(const DataPoints& figures) : figures_(figures) {}  ///< which outlive it
  std::optional<PublishedMatch> of(const RunRecord& record);

 private:
  using Fitting = std::vector<const Facts*>;
  const Fitting& fitting(const std::string& device, const std::string& model);

  const DataPoints& figures_;
  std::map<std::pair<std::string, std::string>, Fitting> known_;  // by device and network: a report has many of a kind
};

/// Whether a device that calls itself `name` ("Tesla P100-SXM2-16GB") is the one that people call `published`
/// ("P100"): it has the word that tells the model (the first with a digit in it), and is no variant (Ti, Super, ...) of
/// it that the other is not.
bool isDevice(const std::string& name, const std::string& published);

/// What a run computed on, as it calls itself: the GPU of its first replica, or the processor. Empty when unknown.
std::string deviceOf(const RunRecord& record);

}  // namespace tandem
