#include "cli/log_exporters.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

#include "base/text.h"
#include "formats/io/free_space.h"
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
    : tensorboard_(shared.output.tensorboard), mllog_(shared.output.mllog) {
  if (mllog_ == standardOutput && forPrograms) {
    throw UsageError(concat("--mllog=- with --format=", shared.output.format,
                            ": both want standard output; give --mllog a file, or use --format=table or md"));
  }
  if (!tensorboard_.empty()) makeFolder(tensorboard_);
  appendMllog("");
}

void RunLogs::add(const RunRecord& record, const std::string& label) const {
  if (!mllog_.empty()) appendMllog(mllogOf(record));
  if (!tensorboard_.empty()) eventsOf(record).write(concat(tensorboard_, '/', folderNameOf(label), '/', record.time));
}

void RunLogs::appendMllog(const std::string& lines) const {
  if (mllog_.empty()) return;
  if (mllog_ == standardOutput) {
    std::cout << lines << std::flush;
    return;
  }
  errno = 0;
  std::ofstream file(mllog_, std::ios::app | std::ios::binary);
  file << lines << std::flush;
  if (file) return;
  throw StorageError(concat("--mllog=", mllog_, ": cannot write to it: ", std::strerror(errno),
                            " (free there: ", freeSpaceText(mllog_), "); choose another place"));
}

}  // namespace tandem
