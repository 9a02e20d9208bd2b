#pragma once

#include <optional>
#include <string>

#include "config/config.h"
#include "formats/io/appended_file.h"
#include "measure/record/record.h"

namespace tandem {

/// Logs of finished runs for other programs: --tensorboard and --mllog. They are written from the record after the run,
/// so that they do not slow it down.
class RunLogs {
 public:
  /// Creates the folder and the file, so that a wrong path is found before the first run. Throws StorageError. Throws
  /// UsageError for --mllog=- if `forPrograms`: the results then use standard output.
  RunLogs(const Config& shared, bool forPrograms);

  /// Writes the logs of one run. `label`: its point's, which names its folder. Throws StorageError.
  void add(const RunRecord& record, const std::string& label);

 private:
  std::string tensorboard_;
  bool mllogOnOutput_;                 // --mllog=-
  std::optional<AppendedFile> mllog_;  // empty also if it goes to standard output
};

}  // namespace tandem
