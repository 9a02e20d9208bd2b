#include <algorithm>
#include <array>
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

constexpr uint64_t largestTable = uint64_t{1} << 28;
constexpr int64_t mostPatients = 1'000'000'000;
constexpr std::string_view tableName = "Data_Entry_2017", none = "No Finding";
/// Wang et al.: ChestX-ray8 (CVPR 2017), in the extension to 14 findings.
constexpr std::array<std::string_view, 14> findings{
    "Atelectasis", "Cardiomegaly", "Consolidation", "Edema",  "Effusion",           "Emphysema", "Fibrosis",
    "Hernia",      "Infiltration", "Mass",          "Nodule", "Pleural_Thickening", "Pneumonia", "Pneumothorax"};

/// The table in a folder; none: the folder is of another data set.
std::optional<std::string> tableIn(const std::string& folder) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(tableName) && name.ends_with(".csv")) return entry.path().string();
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
    Result<Csv> csv = parseCsv(readFile(path_, largestTable));
    if (!csv) throw DataError(concat(path_, ": ", csv.error().text));
    csv_ = std::move(csv.value());
    columns_ = {columnOf("Image Index"), columnOf("Finding Labels"), columnOf("Patient ID")};
    for (const Csv::Row& row : csv_.rows) patients_ = std::max(patients_, patientOf(row));
  }

  const std::vector<Csv::Row>& rows() const { return csv_.rows; }
  const std::string& imageOf(const Csv::Row& row) const { return row.cells[columns_.image]; }

  /// Seven tenths of the patients, then of the rest a third for validation and two for tests.
  bool isOf(const Csv::Row& row, DataSplit split) const {
    const int64_t training = patients_ * 7 / 10, validation = (patients_ - training) / 3;
    const int64_t patient = patientOf(row);
    return split == DataSplit::training ? patient <= training : patient > training + validation;
  }

  void addLabels(const Csv::Row& row, std::vector<uint8_t>& labels) const {
    const size_t begin = labels.size();
    labels.resize(begin + findings.size());
    for (const std::string& finding : split(row.cells[columns_.findings], "|")) {
      if (finding == none) continue;
      const auto* const known = std::ranges::find(findings, finding);
      if (known == findings.end()) {
        refuse(row, concat("'", escaped(finding), "' is none of the 14 findings; these are ",
                           join(std::vector<std::string>(findings.begin(), findings.end()))));
      }
      labels[begin + static_cast<size_t>(known - findings.begin())] = 1;
    }
  }

  [[noreturn]] void refuse(const Csv::Row& row, const std::string& text) const {
    throw DataError(concat(path_, ": line ", row.line, ": ", text));
  }

 private:
  size_t columnOf(const std::string& name) const {
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
  const auto images = imagesIn(path);
  ImageList list;
  list.folder = path + '/';
  list.info = {.name = "chestxray14",
               .classes = std::ssize(findings),
               .labels = &find(labelKinds(), "flags", "kind of labels"),
               .classNames = {findings.begin(), findings.end()}};
  for (const Csv::Row& row : table.rows()) {
    if (!table.isOf(row, split)) continue;
    const auto place = images.find(table.imageOf(row));
    if (place == images.end()) {
      table.refuse(row, concat("image '", escaped(table.imageOf(row)),
                               "' is missing; unpack all archives of images into ", path));
    }
    list.files.add(place->second);
    table.addLabels(row, list.labels);
  }
  if (list.files.size() == 0) throw DataError(concat(*tablePath, ": it has no image of this split"));
  return list;
}

}  // namespace tandem
