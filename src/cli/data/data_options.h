#pragma once

#include "cli/arguments/command_options.h"
#include "data/dataset/data_split.h"

namespace tandem {

/// The command line of a command of `tandem data`: paths, and options.
class DataArguments {
 public:
  /// Throws UsageError for an option that is not in the table, and for another number of paths. `verb`: for messages.
  DataArguments(std::string_view verb, std::span<const CommandOption> options, Arguments arguments, size_t paths = 1);

  /// Without slashes at its end.
  std::string path(size_t number = 0) const;
  /// The value as it was typed, or the standard one.
  std::string text(std::string_view option) const;
  /// All options of the table with their values, without the dashes of their names.
  std::vector<std::pair<std::string, std::string>> all() const;
  /// Throws UsageError unless it is a whole number within the bounds.
  int64_t number(std::string_view option, int64_t least, int64_t most) const;
  [[noreturn]] void refuse(std::string_view option, const std::string& rule) const;

 private:
  std::string command_;
  std::span<const CommandOption> options_;
  TypedArguments typed_;
};

/// The row that --data-split names. Throws UsageError.
const DataSplitEntry& dataSplitOf(const DataArguments& arguments);

/// The lines of the options for --help.
std::string helpOf(std::span<const CommandOption> options);

}  // namespace tandem
