#include "run/training/evaluated_splits.h"

#include "base/text.h"
#include "data/dataset/dataset.h"

namespace tandem {
namespace {

/// The split whose images the data set gives where `asked` is asked for; none: it has no splits, or other ones.
std::optional<DataSplit> given(const std::string& data, DataSplit asked) {
  try {
    return probeDataset(data, asked).info.split;
  } catch (const MissingSplit&) {
    return std::nullopt;
  }
}

}  // namespace

EvaluatedSplits evaluatedSplits(const RunPlan& plan) {
  const std::string& data = plan.config.input.data;
  const std::string& asked = plan.config.training.validateOn;
  if (asked == Config::noSplit || data.empty()) return {};
  if (plan.setup.validation) {
    EvaluatedSplits splits{.during = plan.setup.validation, .atEnd = {}, .note = {}};
    const auto there = given(data, *splits.during);
    if (there && *there != *splits.during)
      throw MissingSplit(concat("--validate-on=", asked, ": ", data, ": ", standInText(*splits.during, there)));
    const DataSplit trained = splitOf(plan.setup);
    if (!there || *there == trained) {
      splits.note =
          concat("evaluated on training data: --validate-on=", asked, " of ", data,
                 there ? "" : ", which has no splits", "; such figures do not say what the network has learnt");
    }
    return splits;
  }
  const auto validation = given(data, DataSplit::validation), test = given(data, DataSplit::test);
  if (!validation || *validation == splitOf(plan.setup)) {
    return {.during = {},
            .atEnd = {},
            .note = concat(data, " has neither validation nor test images, so nothing is evaluated; ",
                           "--validate-on=training evaluates the training images")};
  }
  const bool testApart = test && *test != *validation;
  return {.during = validation, .atEnd = testApart ? test : std::nullopt, .note = {}};
}

}  // namespace tandem
