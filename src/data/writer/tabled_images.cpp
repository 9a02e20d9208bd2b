#include "data/writer/tabled_images.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include "base/text.h"
#include "formats/dataset/csv.h"
#include "formats/io/file.h"
#include "formats/io/free_space.h"

namespace tandem {
namespace {

constexpr uint64_t largestPart = uint64_t{1} << 30;

[[noreturn]] void fail(const std::string& path, const char* action) {
  throwStorageError(action, path, std::generic_category().message(errno));
}

/// Without bringing it to disk: that is done for many files at once.
void writeFile(const std::string& path, std::span<const uint8_t> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) fail(path, "write");
}

/// Brings all files of the file system to disk.
void syncAround(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool done = descriptor >= 0 && ::syncfs(descriptor) == 0;
  if (descriptor >= 0) ::close(descriptor);
  if (!done) fail(folder, "bring to disk");
}

}  // namespace

void TabledImages::add(const std::string& path, std::span<const uint8_t> image, std::span<const std::string> row) {
  writeFile(concat(folder_, '/', path), image);
  images_.add(image);
  bytes_ += image.size();
  table_.append(asBytes(csvLine(row)));
}

FileSum TabledImages::commit() {
  syncAround(folder_);
  const std::string sums = images_.text() + table_.commit().sha256;
  return {bytes_, sha256Of(asBytes(sums))};
}

void joinTables(std::span<const ShardPlace> splits, std::string_view ending, const std::string& path,
                std::span<const std::string> columns) {
  AtomicFile table(path);
  table.append(asBytes(csvLine(columns)));
  for (ShardPlace part : splits) {
    for (part.shard = 0; part.shard < part.count; ++part.shard) {
      table.append(readFile(part.path(ending), largestPart));
    }
  }
  table.commit();
}

}  // namespace tandem
