#include "measure/record/results_file.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/log.h"
#include "base/text.h"
#include "formats/io/file.h"
#include "measure/record/hash_chain.h"
#include "measure/record/record_json.h"

namespace tandem {
namespace {

using nlohmann::json;

constexpr std::string_view recordStart = R"({"config":)";  // members are stored sorted by name

/// Keeps other processes from appending. A file system without flock relies on O_APPEND alone.
class Lock {
 public:
  explicit Lock(const AppendedFile& file) : descriptor_(file.descriptor()) {
    while (flock(descriptor_, LOCK_EX) != 0) {
      if (errno == EINTR) continue;
      if (errno == ENOSYS || errno == EOPNOTSUPP || errno == ENOLCK) return;
      file.fail("lock it");
    }
  }
  ~Lock() { flock(descriptor_, LOCK_UN); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int descriptor_;
};

struct Extent {
  bool regular;
  off_t size;
};

Extent extentOf(const AppendedFile& file) {
  struct stat facts {};
  if (fstat(file.descriptor(), &facts) != 0) file.fail("read its size");
  return {S_ISREG(facts.st_mode), facts.st_size};
}

std::string bytesAt(const AppendedFile& file, off_t offset, size_t count) {
  std::string bytes(count, '\0');
  const ssize_t got = pread(file.descriptor(), bytes.data(), count, offset);
  if (got < 0) file.fail("read it");
  bytes.resize(static_cast<size_t>(got));
  return bytes;
}

void checkHoldsRecords(const AppendedFile& file) {
  const auto [regular, size] = extentOf(file);
  if (!regular) return;
  const std::string start = bytesAt(file, 0, recordStart.size());
  if (!recordStart.starts_with(start)) file.fail("append to it", "it holds something else than records");
}

/// Offset after the last newline. A line torn by a crash begins there.
off_t endOfWholeLines(const AppendedFile& file, off_t size) {
  while (size > 0 && bytesAt(file, size - 1, 1) != "\n") --size;
  return size;
}

/// Keeps a torn line beside the file.
void setAside(const std::string& torn, const AppendedFile& file) {
  const std::string path = file.path() + ".torn";
  std::ofstream aside(path, std::ios::app | std::ios::binary);
  aside << torn << '\n' << std::flush;
  if (!aside) file.fail("keep its torn last line in '" + path + "'");
}

/// Makes the file end with a whole line and returns its size. A record that lacks only its newline is kept.
off_t endLastLine(const AppendedFile& file, off_t size) {
  const off_t end = endOfWholeLines(file, size);
  if (end == size) return size;
  const std::string line = bytesAt(file, end, static_cast<size_t>(size - end));
  // A crash can lose the newline alone. Then the record is whole and stays.
  if (json::accept(line) && write(file.descriptor(), "\n", 1) == 1) return size + 1;
  setAside(line, file);
  if (ftruncate(file.descriptor(), end) != 0) file.fail("cut off a torn last line");
  return end;
}

/// The hash of the last line, for the next line's `previous`. Its newline ends the file's `size` bytes.
std::string lastChain(const AppendedFile& file, off_t size) {
  if (size == 0) return noSeal;
  const off_t end = size - 1;
  // Lines can hold megabytes of samples, so only the seal at the end is read if there is one.
  const off_t tail = std::max<off_t>(0, end - static_cast<off_t>(sealBytes) - 1);
  const std::string seal = bytesAt(file, tail, static_cast<size_t>(end - tail));
  if (hasSeal(seal)) return chainOf(seal);
  const off_t begin = endOfWholeLines(file, end);
  return chainOf(bytesAt(file, begin, static_cast<size_t>(end - begin)));
}

ssize_t writeOnce(int descriptor, const std::string& line) {
  ssize_t written = 0;
  do {
    written = write(descriptor, line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  return written;
}

bool flushed(int descriptor) { return fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS; }

void appendObject(const AppendedFile& file, const std::string& object) {
  const auto [regular, size] = extentOf(file);
  const off_t end = regular ? endLastLine(file, size) : 0;
  const std::string line = sealed(object, regular ? lastChain(file, end) : noSeal) + "\n";
  const ssize_t written = writeOnce(file.descriptor(), line);
  const bool whole = written == static_cast<ssize_t>(line.size());
  if (whole && flushed(file.descriptor())) return;
  std::string reason =
      written < 0 || whole ? std::strerror(errno) : concat("only ", written, " of ", line.size(), " bytes fitted");
  if (regular && ftruncate(file.descriptor(), end) != 0) reason += ", and the torn line could not be cut off";
  file.fail("append a record", reason);
}

RunRecord parseLine(const std::string& line) {
  try {
    RunRecord record = recordFromJson(json::parse(line));
    if (isAsSealed(line)) return record;
  } catch (const json::parse_error& failure) {
    throw DataError(
        concat("not a JSON record: byte ", failure.byte, " is where it is no JSON; 'tandem report import' reads CSV"));
  } catch (const json::exception& failure) {
    throw DataError(concat("not a JSON record: ", failure.what()));
  }
  throw DataError("the record was changed after it was written (its SHA-256 differs); measure again");
}

/// `chain`: the hash of the line before.
void checkChain(const std::string& line, const std::string& chain, int64_t number, const std::string& path) {
  if (!hasSeal(line) || previousOf(line) == chain) return;
  logWarning(concat("results file '", path, "': line ", number,
                    number == 1 ? " was not the first that was written"
                                : " was not written behind the line before it: lines were taken out, put in or moved"));
}

}  // namespace

ResultsFile::ResultsFile(const std::string& path) : file_(path, concat("results file '", path, "' (--out)")) {
  checkHoldsRecords(file_);
  const Lock lock(file_);
  const auto [regular, size] = extentOf(file_);
  if (regular) endLastLine(file_, size);
}

void ResultsFile::append(const RunRecord& record) {
  const std::string object = toJson(record).dump(-1, ' ', false, json::error_handler_t::replace);
  const Lock lock(file_);
  appendObject(file_, object);
}

std::vector<RunRecord> readResults(const std::string& path) {
  const auto opened = openForReading(path);
  std::istream& file = *opened;
  std::vector<RunRecord> records;
  std::string line, chain = noSeal;
  int64_t unsealed = 0;
  for (int64_t number = 1; std::getline(file, line); ++number) {
    if (file.eof() && !json::accept(line)) {
      logWarning(concat("results file '", path, "': line ", number, " is torn (a crash while writing) and left out"));
      break;
    }
    try {
      records.push_back(parseLine(line));
    } catch (const DataError& failure) {
      throw DataError(concat("results file '", path, "', line ", number, ": ", failure.what()));
    }
    checkChain(line, chain, number, path);
    unsealed += hasSeal(line) ? 0 : 1;
    chain = chainOf(line);
  }
  if (file.bad()) throw DataError(concat("results file '", path, "': cannot read it: ", std::strerror(errno)));
  if (unsealed > 0) {
    logWarning(concat("results file '", path, "': ", unsealed, " of ", records.size(),
                      " records have no seal, so whether they were changed is not known"));
  }
  return records;
}

}  // namespace tandem
