#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tandem {

enum class DataSplit { training, validation, test };

/// A row of the catalog of splits: the part of a data set's images that serves one purpose.
struct DataSplitEntry {
  std::string_view name, summary;
  DataSplit split;
  std::string_view written;                      ///< in the names of files and folders that are written
  std::span<const std::string_view> recognised;  ///< in the names of those that are read, by precedence
  DataSplit standIn;                             ///< what a data set without this split gives for it; itself: nothing
};

/// training, validation, test.
std::span<const DataSplitEntry> dataSplits();

const DataSplitEntry& rowOf(DataSplit split);

/// The split whose images a data set gives where `asked` is asked for: that one, or what stands in for it. `has` says
/// of a split whether the data set has images of it. None: it has neither.
template <class Has>
std::optional<DataSplit> givenFor(DataSplit asked, const Has& has) {
  for (const DataSplit split : {asked, rowOf(asked).standIn}) {
    if (has(split)) return split;
  }
  return std::nullopt;
}

/// "val or validation or test": the words by which the images that are given for `asked` are found.
std::string wordsFor(DataSplit asked);

/// What a data set gives in place of what was asked for: "it has no test images; these are its validation images".
/// `given`: none for a data set without splits, which gives all its images. Empty: it gives what was asked for.
std::string standInText(DataSplit asked, std::optional<DataSplit> given);

}  // namespace tandem
