#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>

#include "base/error.h"
#include "base/text.h"
#include "data/dataset/image_list.h"
#include "data/writer/container.h"
#include "formats/dataset/csv.h"
#include "formats/dataset/label_table.h"
#include "formats/io/atomic_file.h"
#include "formats/io/file.h"
#include "formats/io/free_space.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view tableEnding = ".csv";
constexpr size_t fileDigits = 8, classDigits = 5, longestName = 255;
constexpr uint64_t largestTable = uint64_t{1} << 30;

[[noreturn]] void fail(const std::string& path, const char* action) {
  const int reason = errno;
  throw StorageError(concat("cannot ", action, " '", path, "': ", std::generic_category().message(reason),
                            " (free there: ", freeSpaceText(path), "); choose another place"));
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

/// Whether folders of these names are told apart by all, and sort as the classes are numbered.
bool nameFolders(const std::vector<std::string>& names) {
  return std::ranges::is_sorted(names) && std::ranges::all_of(names, [](const std::string& name) {
           return name.size() <= longestName && name.find('/') == name.npos && name != "." && name != "..";
         });
}

bool nameColumns(const std::vector<std::string>& names) { return std::ranges::none_of(names, isColumnName); }

/// The data set's own names of classes, if they serve; else class00000 and so on.
std::vector<std::string> namesFor(const DatasetInfo& info, bool (*serve)(const std::vector<std::string>& names)) {
  if (!info.classNames.empty() && serve(info.classNames)) return info.classNames;
  std::vector<std::string> names;
  for (int64_t i = 0; i < info.classes; ++i) names.push_back("class" + digits(i, classDigits));
  return names;
}

/// Image files below a folder for the split, in one for each class where each image has one class. A table has their
/// labels and their order, which folders alone do not keep. The shard is its part of the table.
class FolderWriter final : public ShardWriter {
 public:
  explicit FolderWriter(const ShardPlace& place) : place_(place), table_(place.path(tableEnding)) {
    if (place_.info.labels->isOneClass()) folders_ = namesFor(place_.info, nameFolders);
    makeFolder(concat(place_.folder, '/', place_.split));
  }

  void add(const WrittenSample& sample) override {
    const std::vector<int64_t> classes = place_.info.labels->classesIn(sample.label);
    const std::string file = concat(folderOf(classes), '/', digits(sample.index, fileDigits), sample.format->ending);
    writeFile(concat(place_.folder, '/', file), sample.bytes);
    images_.add(sample.bytes);
    bytes_ += sample.bytes.size();
    std::vector<std::string> cells{file};
    if (folders_.empty()) {
      cells.resize(1 + static_cast<size_t>(place_.info.classes), "0");
      for (const int64_t each : classes) cells.at(1 + static_cast<size_t>(each)).front() = '1';
    } else {
      cells.push_back(concat(classes.front()));
    }
    table_.append(asBytes(csvLine(cells)));
  }

  FileSum commit() override {
    syncAround(place_.folder);
    const std::string sums = images_.text() + table_.commit().sha256;
    return {bytes_, sha256Of(asBytes(sums))};
  }

 private:
  /// Of an image, from that of the data set.
  std::string folderOf(const std::vector<int64_t>& classes) {
    if (folders_.empty()) return place_.split;
    const std::string folder = concat(place_.split, '/', folders_.at(static_cast<size_t>(classes.front())));
    if (made_.insert(folder).second) makeFolder(concat(place_.folder, '/', folder));
    return folder;
  }

  const ShardPlace place_;
  std::vector<std::string> folders_;  // of the classes; empty: there are none
  std::set<std::string> made_;
  SummedFile table_;
  Sha256 images_;
  uint64_t bytes_ = 0;
};

std::string linesOf(const std::vector<std::string>& texts) { return join(texts, "\n") + '\n'; }

void joinTables(const ShardPlace& place) {
  const DatasetInfo& info = place.info;
  const bool oneClass = info.labels->isOneClass();
  const std::vector<std::string> columns = oneClass ? std::vector<std::string>{"label"} : namesFor(info, nameColumns);
  std::vector<std::string> first{"file"};
  first.insert(first.end(), columns.begin(), columns.end());
  AtomicFile table(concat(place.folder, '/', place.split, tableEnding));
  table.append(asBytes(csvLine(first)));
  for (ShardPlace part = place; part.number < part.count; ++part.number) {
    table.append(readFile(part.path(tableEnding), largestTable));
  }
  table.commit();
  if (!oneClass) return;
  const auto& names = info.classNames;
  const std::string lines = linesOf(names.empty() ? namesFor(info, nameFolders) : names);
  writeAtomically(concat(place.folder, '/', classesFileName), asBytes(lines));
}

constexpr std::string_view labels[] = {"class", "flags"};

}  // namespace

const ContainerEntry folderContainer{
    .name = "folder",
    .summary = "image files in a folder for each class, with a table of labels that keeps their order",
    .ending = tableEnding,
    .needsClasses = true,
    .labels = labels,
    .open = [](const ShardPlace& place) -> std::unique_ptr<ShardWriter> {
      return std::make_unique<FolderWriter>(place);
    },
    .join = joinTables};

}  // namespace tandem
