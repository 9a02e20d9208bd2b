#include "data/dataset/chest_xray.h"

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "base/catalog.h"
#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "base/utf8.h"
#include "data/dataset/image_list.h"
#include "formats/dataset/csv.h"
#include "formats/io/file.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

constexpr int64_t mostPatients = 1'000'000'000;

/// The table in a folder; none: the folder is of another data set.
std::optional<std::string> tableIn(const std::string& folder) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(xrayTable) && name.ends_with(".csv")) return entry.path().string();
  }
  return std::nullopt;
}

/// Where each image lies, by its name: in the folder, in images/, or in images_001/images/ and so on.
std::unordered_map<std::string, std::string> imagesIn(const std::string& folder) {
  std::unordered_map<std::string, std::string> found;
  std::error_code error;
  fs::recursive_directory_iterator entries(folder, fs::directory_options::follow_directory_symlink, error);
  for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error)) {
    const fs::path& path = entries->path();
    const std::string name = path.filename().string();
    if (isImageName(name)) found.emplace(name, path.lexically_relative(folder).string());
  }
  if (error) throw DataError(concat("cannot list data folder '", folder, "': ", error.message()));
  return found;
}

/// The columns that are read.
struct Columns {
  size_t image, findings, patient;
};

class XrayTable {
 public:
  explicit XrayTable(std::string path) : path_(std::move(path)) {
    Result<Csv> csv = parseCsv(readFile(path_, largestXrayTable));
    if (!csv) throw DataError(concat(path_, ": ", csv.error().text));
    csv_ = std::move(csv.value());
    columns_ = {columnOf(xrayImageColumn), columnOf(xrayFindingsColumn), columnOf(xrayPatientColumn)};
    for (const Csv::Row& row : csv_.rows) patients_ = std::max(patients_, patientOf(row));
  }

  const std::vector<Csv::Row>& rows() const { return csv_.rows; }
  const std::string& imageOf(const Csv::Row& row) const { return row.cells[columns_.image]; }

  DataSplit splitOf(const Csv::Row& row) const { return patientShares(patients_).splitOf(patientOf(row)); }

  bool has(DataSplit split) const {
    return std::ranges::any_of(csv_.rows, [&](const Csv::Row& row) { return splitOf(row) == split; });
  }

  void addLabels(const Csv::Row& row, std::vector<uint8_t>& labels) const {
    const size_t begin = labels.size();
    labels.resize(begin + xrayFindings.size());
    for (const std::string& finding : split(row.cells[columns_.findings], "|")) {
      if (finding == noXrayFinding) continue;
      const auto* const known = std::ranges::find(xrayFindings, finding);
      if (known == xrayFindings.end()) {
        refuse(row, concat("'", escaped(finding), "' is none of the 14 findings; these are ",
                           join(std::vector<std::string>(xrayFindings.begin(), xrayFindings.end()))));
      }
      labels[begin + static_cast<size_t>(known - xrayFindings.begin())] = 1;
    }
  }

  [[noreturn]] void refuse(const Csv::Row& row, const std::string& text) const {
    throw DataError(concat(path_, ": line ", row.line, ": ", text));
  }

 private:
  size_t columnOf(std::string_view name) const {
    const auto found = std::ranges::find(csv_.columns, name);
    if (found != csv_.columns.end()) return static_cast<size_t>(found - csv_.columns.begin());
    throw DataError(concat(path_, ": line 1 has no column '", name, "'; it has ", escaped(join(csv_.columns))));
  }

  int64_t patientOf(const Csv::Row& row) const {
    const std::string& text = row.cells[columns_.patient];
    if (const auto number = numberWithin(text, 1, mostPatients)) return *number;
    refuse(row, concat("'", escaped(text), "' is no number of a patient"));
  }

  std::string path_;
  Csv csv_;
  Columns columns_{};
  int64_t patients_ = 0;
};

}  // namespace

std::optional<ImageList> listChestXray(const std::string& path, DataSplit split) {
  const auto tablePath = tableIn(path);
  if (!tablePath) return std::nullopt;
  const XrayTable table(*tablePath);
  const auto given = givenFor(split, [&](DataSplit each) { return table.has(each); });
  if (!given) throw MissingSplit(concat(*tablePath, ": it has no image of this split"));
  const auto images = imagesIn(path);
  ImageList list;
  list.folder = path + '/';
  list.info = {.name = "chestxray14",
               .classes = std::ssize(xrayFindings),
               .labels = &find(labelKinds(), "flags", "kind of labels"),
               .classNames = {xrayFindings.begin(), xrayFindings.end()},
               .split = given};
  for (const Csv::Row& row : table.rows()) {
    if (table.splitOf(row) != *given) continue;
    const auto place = images.find(table.imageOf(row));
    if (place == images.end()) {
      table.refuse(row, concat("image '", escaped(table.imageOf(row)),
                               "' is missing; unpack all archives of images into ", path));
    }
    list.files.add(place->second);
    table.addLabels(row, list.labels);
  }
  return list;
}

}  // namespace tandem
