#include <algorithm>
#include <filesystem>
#include <set>
#include <unordered_map>

#include "base/catalog.h"
#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "base/utf8.h"
#include "data/dataset/image_list.h"
#include "formats/dataset/label_table.h"
#include "formats/io/file.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t largestTable = uint64_t{1} << 30;
constexpr int64_t mostClasses = 1'000'000;
/// Of flags, which lie in memory: a byte for each class of each file. One large number in a small table must not take
/// all there is; a million files may have 4000 classes.
constexpr int64_t mostFlagBytes = int64_t{1} << 32;

struct TableFormat {
  const char* ending;
  Result<LabelTable> (*parse)(std::span<const uint8_t> bytes);
};

constexpr TableFormat formats[] = {{".csv", parseLabelCsv}, {".json", parseLabelJson}};

const TableFormat* formatOf(const fs::path& path) {
  const auto* const found = std::ranges::find(formats, path.extension().string(), &TableFormat::ending);
  return found == std::end(formats) ? nullptr : found;
}

/// Where a table is, and whose images it has; none: those of all splits.
struct Place {
  fs::path path;
  std::optional<DataSplit> split = {};
};

std::optional<fs::path> tableNamed(const fs::path& folder, std::string_view name) {
  std::error_code ignored;
  for (const TableFormat& format : formats) {
    fs::path path = folder / concat(name, format.ending);
    if (fs::is_regular_file(path, ignored)) return path;
  }
  return std::nullopt;
}

std::optional<fs::path> tableOf(const fs::path& folder, DataSplit split) {
  for (const std::string_view word : rowOf(split).recognised) {
    if (auto path = tableNamed(folder, word)) return path;
  }
  return std::nullopt;
}

/// The table in a folder of what is asked for. Where it has none, `labels` is of each split.
std::optional<Place> placeIn(const fs::path& folder, DataSplit asked) {
  const auto split = givenFor(asked, [&](DataSplit each) { return tableOf(folder, each).has_value(); });
  if (split) return Place{*tableOf(folder, *split), split};
  const auto all = tableNamed(folder, "labels");
  return all ? std::optional(Place{*all}) : std::nullopt;
}

/// Whether a folder has tables of splits, and nothing that is named as training images. Where these are of another kind
/// of data set, the tables are none.
bool lacksTraining(const fs::path& folder) {
  const auto has = [&](DataSplit each) { return tableOf(folder, each).has_value(); };
  if (!std::ranges::any_of(dataSplits(), has, &DataSplitEntry::split)) return false;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const auto begins = [&](std::string_view word) { return name.starts_with(word); };
    if (std::ranges::any_of(rowOf(DataSplit::training).recognised, begins)) return false;
  }
  return true;
}

std::optional<Place> placeOf(const std::string& path, DataSplit asked) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return placeIn(path, asked);
  return formatOf(path) != nullptr && fs::is_regular_file(path, ignored) ? std::optional(Place{path}) : std::nullopt;
}

/// A table, and what its messages begin with.
struct Table {
  std::string path;
  LabelTable content;

  template <class... Parts>
  [[noreturn]] void refuse(const LabelTable::Row& row, const Parts&... parts) const {
    throw DataError(
        concat(path, ": ", row.place, row.place.empty() ? "" : ": ", "'", escaped(row.file), "' ", parts...));
  }
};

Table readTable(const fs::path& path) {
  Result<LabelTable> content = formatOf(path)->parse(readFile(path.string(), largestTable));
  if (!content) throw DataError(concat(path.string(), ": ", content.error().text));
  if (content.value().rows.empty()) throw DataError(concat(path.string(), ": it names no file"));
  return {path.string(), std::move(content.value())};
}

bool allAreNumbers(const LabelTable& table) {
  return std::ranges::all_of(table.rows, [](const LabelTable::Row& row) {
    return std::ranges::all_of(row.labels,
                               [](const std::string& label) { return numberIn<int64_t>(label).has_value(); });
  });
}

/// Names of the classes, sorted; numbers up to the largest have none.
std::vector<std::string> namesOfClasses(const Table& table) {
  if (!table.content.classes.empty()) return table.content.classes;
  std::set<std::string> names;
  for (const auto& row : table.content.rows) names.insert(row.labels.begin(), row.labels.end());
  return {names.begin(), names.end()};
}

int64_t largestNumber(const Table& table) {
  int64_t largest = 0;
  for (const auto& row : table.content.rows) {
    for (const std::string& label : row.labels) {
      const int64_t number = numberIn<int64_t>(label).value();
      if (number < 0 || number >= mostClasses) {
        table.refuse(row, "has the label ", label, ", which must be from 0 to ", mostClasses - 1);
      }
      largest = std::max(largest, number);
    }
  }
  return largest;
}

/// The lines of classes.txt beside a table; none: there is no such file.
std::vector<std::string> listedNames(const std::string& table) {
  const fs::path path = fs::path(table).parent_path() / classesFileName;
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return {};
  const std::vector<uint8_t> bytes = readFile(path.string(), largestTable);
  std::vector<std::string> lines = split({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "\n");
  if (lines.back().empty()) lines.pop_back();
  for (std::string& line : lines) {
    if (line.ends_with('\r')) line.pop_back();
  }
  if (!oneLineNames(lines).empty()) return lines;
  throw DataError(concat(path.string(), ": each line must be the name of one class, and no two equal"));
}

/// Which label is which class.
class Classes {
 public:
  explicit Classes(const Table& training)
      : numbered_(training.content.classes.empty() && allAreNumbers(training.content)),
        count_(numbered_ ? largestNumber(training) + 1 : 0) {
    names_ = numbered_ ? listedNames(training.path) : namesOfClasses(training);
    if (!numbered_) {
      for (const std::string& name : names_) numbers_.emplace(name, count_++);
    } else if (!names_.empty()) {
      takeListed(training);
    }
  }

  int64_t count() const { return count_; }
  const std::vector<std::string>& names() const { return names_; }

  int64_t of(const Table& table, const LabelTable::Row& row, const std::string& label) const {
    const auto named = numbers_.find(label);
    const int64_t ofName = named == numbers_.end() ? -1 : named->second;
    const int64_t number = numbered_ ? numberIn<int64_t>(label).value_or(-1) : ofName;
    if (number >= 0 && number < count_) return number;
    table.refuse(row, "has the label '", escaped(label), "', which no training image has");
  }

 private:
  void takeListed(const Table& training) {
    const auto listed = std::ssize(names_);
    if (listed < count_) {
      throw DataError(concat(training.path, ": it has labels up to ", count_ - 1, ", counted from 0, but ",
                             classesFileName, " beside it names ", listed, " classes"));
    }
    count_ = listed;
  }

  bool numbered_;
  int64_t count_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, int64_t> numbers_;  // of the names, where there are some
};

void addFlags(ImageList& list, const std::string& file, const std::vector<int64_t>& classes) {
  list.files.add(file);
  const size_t begin = list.labels.size();
  list.labels.resize(begin + static_cast<size_t>(list.info.classes));
  for (const int64_t each : classes) list.labels[begin + static_cast<size_t>(each)] = 1;
}

void requireMemoryFor(const Table& table, const Classes& classes) {
  const int64_t files = std::ssize(table.content.rows), bytes = files * classes.count();
  if (bytes <= mostFlagBytes) return;
  throw DataError(concat(table.path, ": any of ", classes.count(), " classes for each of ", files, " files take ",
                         bytes, " bytes; the limit is ", mostFlagBytes,
                         ", so give a smaller table, or number the classes from 0 without gaps"));
}

bool leavesFolder(const fs::path& file) {
  return file.is_absolute() || std::ranges::find(file, fs::path("..")) != file.end();
}

void addRow(ImageList& list, const Table& table, const LabelTable::Row& row, const Classes& classes, bool several) {
  if (row.file.empty()) table.refuse(row, "is an empty file name");
  if (row.file.find('\0') != row.file.npos) table.refuse(row, "has a NUL byte in its name");
  if (leavesFolder(row.file)) table.refuse(row, "leaves the folder of the table; a path is relative and without '..'");
  std::vector<int64_t> numbers;
  for (const std::string& label : row.labels) numbers.push_back(classes.of(table, row, label));
  if (several) return addFlags(list, row.file, numbers);
  if (numbers.size() != 1) table.refuse(row, "has ", numbers.size(), " labels; each training image has one");
  list.addClass(row.file, numbers.front());
}

/// A file that is missing is said before the first step. One look at each costs a second for a hundred thousand.
void requireFiles(const ImageList& list, const Table& table) {
  std::error_code ignored;
  for (int64_t i = 0; i < list.files.size(); ++i) {
    const std::string path = list.folder + std::string(list.files.at(i));
    if (!fs::exists(path, ignored))
      table.refuse(table.content.rows[static_cast<size_t>(i)], "is missing: ", escaped(path));
  }
}

}  // namespace

std::optional<ImageList> listLabelledFiles(const std::string& path, DataSplit split) {
  const auto ofTraining = placeOf(path, DataSplit::training), ofSplit = placeOf(path, split);
  if (!ofTraining && !lacksTraining(path)) return std::nullopt;
  if (!ofSplit) {
    const DataSplitEntry& row = rowOf(split);
    throw MissingSplit(concat("data folder '", path, "' has no table of ", row.name, " images; name it ", row.written,
                              ".csv or ", row.written, ".json, or ask for a split that is there"));
  }
  const Table training = readTable(ofTraining.value_or(*ofSplit).path);  // or what has the classes in its place
  const Table table = ofSplit->path == training.path ? training : readTable(ofSplit->path);
  const Classes classes(training);
  const bool several = training.content.several;
  ImageList list;
  list.folder = ofSplit->path.has_parent_path() ? ofSplit->path.parent_path().string() + '/' : "";
  list.info = {.name = "labelled files",
               .classes = classes.count(),
               .labels = &find(labelKinds(), several ? "flags" : "class", "kind of labels"),
               .classNames = oneLineNames(classes.names()),
               .split = ofSplit->split};
  if (several) requireMemoryFor(table, classes);
  for (const LabelTable::Row& row : table.content.rows) addRow(list, table, row, classes, several);
  requireFiles(list, table);
  return list;
}

}  // namespace tandem
