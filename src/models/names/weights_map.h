#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/state.h"
#include "models/names/name_rules.h"

namespace tandem {

/// A tensor of a network as another project's file stores it.
struct ForeignTensor {
  std::string name;
  std::vector<int64_t> shape;       ///< shape in the file
  std::vector<int64_t> view;        ///< shape before `axes` reorders it; empty: `shape`
  std::vector<int64_t> axes;        ///< the axis of `view` that comes first, second, ...; empty: unchanged
  std::optional<double> ifMissing;  ///< the project's own network lacks the scale, which is this; files may have it
  std::string subtracted;           ///< a bias of the project's own network, subtracted if the file has it
  double added = 0;                 ///< added to all elements when read, subtracted when written
  bool absent = false;              ///< the project's own network lacks it, as an auxiliary head; files may have it
};

/// How another project's file names and stores the state of a network.
struct ForeignState {
  std::vector<ForeignTensor> tensors;  ///< one for each of stateTensors(), in that order
  std::string difference;              ///< how the other project's network computes something else; may be empty
};

/// A row of --weights-map: names that weights are read and written under.
struct WeightsMap {
  std::string_view name, summary;
  bool slashes;                     ///< whether names in the file contain slashes
  std::string_view leftOver;        ///< suffix of additional names that a file may have; empty: none
  std::span<const NameRule> older;  ///< renames those of the project's older files to current names
  /// Throws UsageError for an unknown model; the text lists the known ones.
  ForeignState (*of)(std::string_view model, const Graph& graph);
};

/// none (Tandem's own names), torchvision, keras, timm.
std::span<const WeightsMap> weightsMaps();

/// Shape of the pixels before the flattening at a linear layer's input.
ImageShape beforeFlatten(const Graph& graph, const Node& linear);

}  // namespace tandem
