#pragma once

#include <string>
#include <vector>

#include "formats/io/appended_file.h"
#include "measure/record/record.h"

namespace tandem {

/// Appends records to a JSON-lines file, each whole or not at all. It writes a line by one write(2) on an O_APPEND
/// descriptor under flock, then calls fsync. A short write is cut off again. Throws StorageError that names path,
/// reason and free bytes. Any number of processes may append to one file. Only one thread at a time may use an object.
class ResultsFile {
 public:
  /// Opens or creates the file at once, so that an unwritable place is found before anything is measured. A file with
  /// other content than records is refused and left unchanged. A last line torn by a crash is moved to PATH.torn.
  explicit ResultsFile(const std::string& path);

  /// Appends a record. A last line torn by a crash is replaced first, so that it never ends up in the middle of the
  /// file.
  void append(const RunRecord&);

 private:
  AppendedFile file_;
};

/// All records of a file. A torn last line is left out with a warning. Any other bad line throws DataError with its
/// number. A file that cannot be read throws DataError.
std::vector<RunRecord> readResults(const std::string& path);

}  // namespace tandem
