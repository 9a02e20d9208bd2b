#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/program.h"

namespace tandem {

/// An option of a command of `tandem data`.
struct DataOption {
  std::string_view name, placeholder, help, standard;  ///< name as it is typed: "--images"
};

/// The command line of a command of `tandem data`: one path, and options.
class DataArguments {
 public:
  /// Throws UsageError for an option that is not in the table, or for another number of paths. `verb`: for messages.
  DataArguments(std::string_view verb, std::span<const DataOption> options, Arguments arguments);

  const std::string& path() const { return path_; }
  /// The value as it was typed, or the standard one.
  std::string text(std::string_view option) const;
  /// Throws UsageError unless it is a whole number within the bounds.
  int64_t number(std::string_view option, int64_t least, int64_t most) const;
  [[noreturn]] void refuse(std::string_view option, const std::string& rule) const;

 private:
  std::string verb_, path_;
  std::span<const DataOption> options_;
  std::vector<std::pair<std::string, std::string>> typed_;
};

/// The lines of the options for --help.
std::string helpOf(std::span<const DataOption> options);

}  // namespace tandem
