#pragma once

#include <string>
#include <vector>

#include "measure/record/record.h"

namespace tandem {

/// Appends records to a JSON-lines file, each whole or not at all: one write(2) of the line on an O_APPEND descriptor
/// under flock, then fsync; a short write is cut off again. Throws StorageError naming path, reason and free bytes.
/// Any number of processes may append to one file; an object is used by one thread at a time.
class ResultsFile {
 public:
  /// Opens (creates) the file at once, so that an unwritable place is found before anything is measured. A file that
  /// holds something else than records is refused and left as it is.
  explicit ResultsFile(std::string path);
  ~ResultsFile();
  ResultsFile(const ResultsFile&) = delete;
  ResultsFile& operator=(const ResultsFile&) = delete;

  /// A last line left torn by a crash is replaced, so that it never ends up in the middle of the file.
  void append(const RunRecord&);

 private:
  std::string path_;
  int descriptor_;
};

/// All records of a file. A last line that is torn is left out with a warning; any other bad line throws DataError with
/// its number, as does a file that cannot be read.
std::vector<RunRecord> readResults(const std::string& path);

}  // namespace tandem
