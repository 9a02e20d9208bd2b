#pragma once

#include <regex>

#include "base/error.h"
#include "base/text.h"
#include "models/names/weights_map.h"

/// The rows of weightsMaps(), one source each.
namespace tandem {

/// The row whose regular expression `models` matches the whole name. Throws UsageError with what the rows know
/// (`shown`) and `hint`, if none does.
template <class Family>
const Family& familyOf(std::span<const Family> families, std::string_view map, std::string_view model,
                       std::string_view hint = "") {
  std::vector<std::string> known;
  for (const Family& family : families) {
    if (std::regex_match(model.begin(), model.end(), std::regex(family.models))) return family;
    known.emplace_back(family.shown);
  }
  throw UsageError(concat("the map ", map, " does not know --model=", model, "; it knows ", join(known), hint));
}

ForeignState ownState(std::string_view model, const Graph& graph);

/// torchvision 0.26: the same names, of the networks that it has.
ForeignState torchvisionState(std::string_view model, const Graph& graph);

/// keras.applications: HWIO kernels; gamma, beta, moving_mean, moving_variance. Its convolutions have a bias before
/// batch-norm, which Tandem's do not: that bias is subtracted from the running mean. The difference of the epsilons is
/// added to the running variance. Neither changes the result of evaluation.
ForeignState kerasState(std::string_view model, const Graph& graph);

/// timm 1.0: the same tensors under other names, some with another shape.
ForeignState timmState(std::string_view model, const Graph& graph);

}  // namespace tandem
