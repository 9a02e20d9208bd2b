#include "cli/log_exporters.h"

#include <algorithm>
#include <iostream>

#include "base/text.h"
#include "formats/io/atomic_file.h"
#include "report/export/exporters.h"

namespace tandem {
namespace {

constexpr const char* standardOutput = "-";
constexpr size_t longestName = 200;

/// The folder name of a label: no slash, no control character, no space.
std::string folderNameOf(std::string label) {
  std::ranges::replace_if(
      label, [](unsigned char c) { return c == '/' || c < 0x20 || c == 0x7f; }, '_');
  std::ranges::replace(label, ' ', ',');
  return label.substr(0, longestName);
}

}  // namespace

RunLogs::RunLogs(const Config& shared, bool forPrograms)
    : tensorboard_(shared.output.tensorboard), mllogOnOutput_(shared.output.mllog == standardOutput) {
  const std::string& mllog = shared.output.mllog;
  if (mllogOnOutput_ && forPrograms) {
    throw UsageError(concat("--mllog=- with --format=", shared.output.format,
                            ": both want standard output; give --mllog a file, or use --format=table or md"));
  }
  if (!tensorboard_.empty()) makeFolder(tensorboard_);
  if (!mllog.empty() && !mllogOnOutput_) mllog_.emplace(mllog, concat("--mllog=", mllog));
}

void RunLogs::add(const RunRecord& record, const std::string& label) {
  if (mllog_) mllog_->append(mllogOf(record));
  if (mllogOnOutput_) std::cout << mllogOf(record) << std::flush;
  if (!tensorboard_.empty()) eventsOf(record).write(concat(tensorboard_, '/', folderNameOf(label), '/', record.time));
}

}  // namespace tandem
