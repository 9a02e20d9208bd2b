#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "data/dataset/chest_xray.h"
#include "data/writer/tabled_images.h"
#include "formats/dataset/csv.h"
#include "formats/io/file.h"

namespace tandem {
namespace {

constexpr std::string_view partEnding = ".csv", imagesFolder = "images";
constexpr int64_t imagesOfPatient = 4;
constexpr size_t patientDigits = 8, followUpDigits = 3;

/// As the table of the National Institutes of Health is split at its commas. Two names have some without quotes, and
/// one stands behind the last.
constexpr std::string_view columns[] = {xrayImageColumn,
                                        xrayFindingsColumn,
                                        "Follow-up #",
                                        xrayPatientColumn,
                                        "Patient Age",
                                        "Patient Gender",
                                        "View Position",
                                        "OriginalImage[Width",
                                        "Height]",
                                        "OriginalImagePixelSpacing[x",
                                        "y]",
                                        ""};

int64_t patientsFor(int64_t images) { return (images + imagesOfPatient - 1) / imagesOfPatient; }

/// The patients before those of each split. Numbers may be left out, so that a split by patient gives back the splits.
/// The last one that does not train takes the place of the test images, whose patients are the last ones.
struct Patients {
  int64_t ofValidation = 0, ofTest = 0;  ///< training images begin with patient 1

  explicit Patients(std::span<const NewSplit> splits) {
    int64_t training = 0, validation = 0, test = 0;
    for (const NewSplit& split : splits) {
      const int64_t own = patientsFor(split.images);
      if (split.trains()) {
        training = own;
      } else {
        validation = std::exchange(test, own);
      }
    }
    int64_t all = std::max({training * 10 / 7, validation * 10, test * 5}) - 20;  // below what is needed, and near
    const auto fits = [&] {
      const PatientShares shares = patientShares(all);
      return shares.training >= training && shares.validation >= validation &&
             all - shares.training - shares.validation >= test;
    };
    for (all = std::max<int64_t>(all, 1); !fits();) ++all;
    ofValidation = patientShares(all).training;
    ofTest = all - test;
  }

  int64_t before(std::span<const NewSplit> splits, size_t number) const {
    if (splits[number].trains()) return 0;
    const bool isLast = std::ranges::all_of(splits.subspan(number + 1), &NewSplit::trains);
    return isLast ? ofTest : ofValidation;
  }
};

class XrayWriter final : public ShardWriter {
 public:
  explicit XrayWriter(const ShardPlace& place)
      : place_(place),
        images_(place, partEnding),
        patientsBefore_(Patients(place.splits).before(place.splits, place.number)) {
    makeFolder(concat(place_.folder, '/', imagesFolder));
  }

  void add(const WrittenSample& sample) override {
    const int64_t patient = patientsBefore_ + 1 + sample.index / imagesOfPatient;
    const int64_t followUp = sample.index % imagesOfPatient;
    const std::string name =
        concat(digits(patient, patientDigits), '_', digits(followUp, followUpDigits), sample.format->ending);
    // Nobody knows the rest: age, gender, view, and the sizes of what was scaled.
    std::vector<std::string> row{name, findingsIn(sample), concat(followUp), concat(patient)};
    row.resize(std::size(columns));
    images_.add(concat(imagesFolder, '/', name), sample.bytes, row);
  }

  FileSum commit() override { return images_.commit(); }

 private:
  std::string findingsIn(const WrittenSample& sample) const {
    const DatasetInfo& info = place_.info();
    std::vector<std::string> findings;
    for (const int64_t each : info.labels->classesIn(sample.label)) {
      findings.push_back(info.classNames.at(static_cast<size_t>(each)));
    }
    return findings.empty() ? std::string(noXrayFinding) : join(findings, "|");
  }

  const ShardPlace place_;
  TabledImages images_;
  const int64_t patientsBefore_;
};

/// Splits are found by the largest number of a patient. Where images are left out, it may be another one than it was
/// to be.
void checkLastPatient(std::span<const ShardPlace> splits, const std::string& path) {
  const Patients patients(splits.front().splits);
  const auto lastSplit =
      std::find_if_not(splits.rbegin(), splits.rend(), [](const ShardPlace& place) { return place.split().trains(); });
  const std::string last = concat(patients.ofTest + patientsFor(lastSplit->split().images));
  const auto table = parseCsv(readFile(path, largestXrayTable)).value();
  const auto column = std::ranges::find(table.columns, xrayPatientColumn) - table.columns.begin();
  const bool isThere = std::ranges::any_of(
      table.rows, [&](const Csv::Row& row) { return row.cells[static_cast<size_t>(column)] == last; });
  if (isThere) return;
  throw DataError(concat(path, ": no image of the last patient, ", last,
                         ", can be read, and the splits are found by that number; mend the last image of each split"));
}

void joinSplits(std::span<const ShardPlace> splits) {
  const std::string path = concat(splits.front().folder, '/', xrayTable, ".csv");
  joinTables(splits, partEnding, path, std::vector<std::string>(std::begin(columns), std::end(columns)));
  checkLastPatient(splits, path);
}

std::string breachOf(std::span<const NewSplit> splits) {
  constexpr int64_t rowBytes = 256, mostImages = static_cast<int64_t>(largestXrayTable) / rowBytes;  // a row has fewer
  int64_t images = 0;
  for (const NewSplit& split : splits) images += split.images;
  if (images > mostImages) {
    return concat("has a table of at most ", mostImages, " images, and there are ", images, "; use another container");
  }
  if (splits.size() > 1 && std::ranges::any_of(splits, &NewSplit::trains)) return {};
  return "is split by patient, and there are not both training and test images; give a data set with both, or use "
         "another container";
}

constexpr std::string_view labels[] = {"flags"};

}  // namespace

const ContainerEntry xrayContainer{
    .name = "chestxray14",
    .summary = "the layout of ChestX-ray14: Data_Entry_2017.csv, and PNG files in images/, four of each patient",
    .ending = partEnding,
    .encoding = "png",
    .labels = labels,
    .classes = xrayFindings,
    .open = [](const ShardPlace& place) -> std::unique_ptr<ShardWriter> { return std::make_unique<XrayWriter>(place); },
    .join = joinSplits,
    .breach = breachOf};

}  // namespace tandem
