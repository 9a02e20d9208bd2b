#pragma once

#include <string>

#include "config/config.h"
#include "measure/record/record.h"

namespace tandem {

/// What other programs want to read of finished runs: --tensorboard and --mllog. Written from the record when the run
/// is over, so that no run pays for it.
class RunLogs {
 public:
  /// Finds out that nothing can be written there. Throws StorageError; UsageError for --mllog=- where standard output
  /// is for programs already.
  RunLogs(const Config& shared, bool forPrograms);

  /// Of a run that was started. `label`: of its point. Throws StorageError.
  void add(const RunRecord& record, const std::string& label) const;

 private:
  void appendMllog(const std::string& lines) const;

  std::string tensorboard_, mllog_;
};

}  // namespace tandem
