#include <algorithm>
#include <set>

#include "base/text.h"
#include "data/dataset/image_list.h"
#include "data/writer/tabled_images.h"
#include "formats/dataset/csv.h"
#include "formats/dataset/label_table.h"

namespace tandem {
namespace {

constexpr std::string_view tableEnding = ".csv";
constexpr size_t fileDigits = 8, longestName = 255;

/// Whether folders of these names are told apart by all, and sort as the classes are numbered.
bool nameFolders(const std::vector<std::string>& names) {
  return std::ranges::is_sorted(names) && std::ranges::all_of(names, [](const std::string& name) {
           return name.size() <= longestName && name.find('/') == name.npos && name != "." && name != "..";
         });
}

bool nameColumns(const std::vector<std::string>& names) { return std::ranges::none_of(names, isColumnName); }

/// Image files below a folder for the split, in one for each class where each image has one class. A table has their
/// labels and their order, which folders alone do not keep. The shard is its part of the table.
class FolderWriter final : public ShardWriter {
 public:
  explicit FolderWriter(const ShardPlace& place) : place_(place), images_(place, tableEnding) {
    if (info().labels->isOneClass()) folders_ = classNamesFor(info(), nameFolders);
    makeFolder(concat(place_.folder, '/', split()));
  }

  void add(const WrittenSample& sample) override {
    const std::vector<int64_t> classes = info().labels->classesIn(sample.label);
    std::vector<std::string> row{
        concat(folderOf(classes), '/', digits(sample.index, fileDigits), sample.format->ending)};
    if (folders_.empty()) {
      row.resize(1 + static_cast<size_t>(info().classes), "0");
      for (const int64_t each : classes) row.at(1 + static_cast<size_t>(each)).front() = '1';
    } else {
      row.push_back(concat(classes.front()));
    }
    images_.add(row.front(), sample.bytes, row);
  }

  FileSum commit() override { return images_.commit(); }

 private:
  const std::string& split() const { return place_.split().name; }
  const DatasetInfo& info() const { return place_.info(); }

  /// Of an image, from that of the data set.
  std::string folderOf(const std::vector<int64_t>& classes) {
    if (folders_.empty()) return split();
    const std::string folder = concat(split(), '/', folders_.at(static_cast<size_t>(classes.front())));
    if (made_.insert(folder).second) makeFolder(concat(place_.folder, '/', folder));
    return folder;
  }

  const ShardPlace place_;
  std::vector<std::string> folders_;  // of the classes; empty: there are none
  std::set<std::string> made_;
  TabledImages images_;
};

std::string linesOf(const std::vector<std::string>& texts) { return join(texts, "\n") + '\n'; }

void joinSplits(std::span<const ShardPlace> splits) {
  for (const ShardPlace& place : splits) {
    const DatasetInfo& info = place.info();
    const bool oneClass = info.labels->isOneClass();
    const auto labels = oneClass ? std::vector<std::string>{"label"} : classNamesFor(info, nameColumns);
    std::vector<std::string> columns{"file"};
    columns.insert(columns.end(), labels.begin(), labels.end());
    joinTables({&place, 1}, tableEnding, concat(place.folder, '/', place.split().name, tableEnding), columns);
    if (!oneClass) continue;
    const auto& names = info.classNames;
    const std::string lines = linesOf(names.empty() ? classNamesFor(info, nameFolders) : names);
    writeAtomically(concat(place.folder, '/', classesFileName), asBytes(lines));
  }
}

/// Flags have a column each beside that of the files.
std::string breachOf(std::span<const NewSplit> splits) {
  const DatasetInfo& info = splits.front().info;
  const auto most = static_cast<int64_t>(CsvLimits().columns) - 1;
  if (info.labels->isOneClass() || info.classes <= most) return {};
  return concat("has a table with a column for each class, of which at most ", most, " are read, and there are ",
                info.classes, "; use ", containersThat([&](const ContainerEntry& other) {
                  return other.breach == nullptr && other.holds(*info.labels);
                }));
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
    .join = joinSplits,
    .breach = breachOf};

}  // namespace tandem
