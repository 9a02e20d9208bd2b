#include "data/dataset/data_split.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace tandem {
namespace {

constexpr std::array<std::string_view, 2> trainingWords{"train", "training"}, validationWords{"val", "validation"};
constexpr std::array<std::string_view, 1> testWords{"test"};

constexpr DataSplitEntry catalog[] = {
    {"training", "what a network is trained on", DataSplit::training, "train", trainingWords, DataSplit::training},
    {"validation", "what choices in training are judged by; where there are none, the test images",
     DataSplit::validation, "val", validationWords, DataSplit::test},
    {"test", "what a trained network is judged by; where there are none, the validation images", DataSplit::test,
     "test", testWords, DataSplit::validation},
};

}  // namespace

std::span<const DataSplitEntry> dataSplits() { return catalog; }

const DataSplitEntry& rowOf(DataSplit split) {
  const auto* const row = std::ranges::find(catalog, split, &DataSplitEntry::split);
  check(row != std::end(catalog), "each split has a row");
  return *row;
}

std::string wordsFor(DataSplit asked) {
  std::vector<std::string> words;
  for (const DataSplit split : std::set{asked, rowOf(asked).standIn}) {
    for (const std::string_view word : rowOf(split).recognised) words.emplace_back(word);
  }
  return join(words, " or ");
}

std::string standInText(DataSplit asked, std::optional<DataSplit> given) {
  if (!given) return "it has no splits; these are all its images";
  if (*given == asked) return {};
  return concat("it has no ", rowOf(asked).name, " images; these are its ", rowOf(*given).name, " images");
}

}  // namespace tandem
