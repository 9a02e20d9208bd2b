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
  double imagesPerSecond = 0;  ///< rate of the figure; per device if the numbers of devices differ
  bool perDevice = false;
  double percent = 0;                    ///< the run's images/s in percent of it
  std::vector<std::string> differences;  ///< "batch 256/128": the run's value, then the figure's
};

/// Finds the published rate nearest to a run, among figures for its network on its device. Distance compares, in this
/// order: number of devices, precision, batch per device, layout, input, strategy. Among equals the newest figure and
/// then the highest wins. For CPUs the whole machine is one device.
/// Empty for an unknown device or network and for an unfinished run. Empty if an image is different work: not the
/// network's own size, or forward only.
class NearestPublished {
 public:
  explicit NearestPublished(const DataPoints& figures) : figures_(figures) {}  ///< it must outlive this
  std::optional<PublishedMatch> of(const RunRecord& record);

 private:
  using Fitting = std::vector<const Facts*>;
  const Fitting& fitting(const std::string& device, const std::string& model);

  const DataPoints& figures_;
  // By device and network, because a report has many runs of a kind.
  std::map<std::pair<std::string, std::string>, Fitting> known_;
};

/// Whether the device name `name` ("Tesla P100-SXM2-16GB") and the published name `published` ("P100") mean the same
/// device. `name` must have the model word, the first one with a digit. Neither may be a variant (Ti, Super, ...) that
/// the other is not.
bool isDevice(const std::string& name, const std::string& published);

/// The name of the device a run used: the GPU of its first replica, or the processor. Empty if unknown.
std::string deviceOf(const RunRecord& record);

}  // namespace tandem
