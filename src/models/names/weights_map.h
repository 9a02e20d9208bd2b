#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/state.h"
#include "models/names/name_rules.h"

namespace tandem {

/// A tensor of a network as another project's file holds it.
struct ForeignTensor {
  std::string name;
  std::vector<int64_t> shape;       ///< in the file
  std::vector<int64_t> view;        ///< the same elements by other axes, which `axes` reorders; empty: `shape`
  std::vector<int64_t> axes;        ///< which axis of `view` comes first, ...; empty: as they are
  std::optional<double> ifMissing;  ///< what all elements are where the file has no such tensor
  std::string subtracted;           ///< another tensor of the file, taken off where the file has it
  double added = 0;                 ///< to all elements
};

/// How another project's file names and stores what a network has learnt.
struct ForeignState {
  std::vector<ForeignTensor> tensors;  ///< one for each of stateTensors(), in that order
  std::string difference;              ///< in what the other project's network computes something else; may be empty
};

/// A row of --weights-map.
struct WeightsMap {
  std::string_view name, summary;
  bool slashes;                     ///< names in the file have them
  std::string_view leftOver;        ///< end of the names that a file may have besides, empty: none
  std::span<const NameRule> older;  ///< make today's names of those in the project's older files
  /// Throws UsageError for a model that it does not know, naming those that it does.
  ForeignState (*of)(std::string_view model, const Graph& graph);
};

/// none (torchvision's names, which are Tandem's own), keras, timm.
std::span<const WeightsMap> weightsMaps();

/// The shape that the pixels of a linear layer's input have in front of the flattening.
ImageShape beforeFlatten(const Graph& graph, const Node& linear);

}  // namespace tandem
