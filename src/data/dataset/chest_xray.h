#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "data/dataset/data_split.h"

namespace tandem {

/// The findings of ChestX-ray14, in the order of its classes. Wang et al.: ChestX-ray8 (CVPR 2017), in the extension to
/// 14 findings.
constexpr std::array<std::string_view, 14> xrayFindings{
    "Atelectasis", "Cardiomegaly", "Consolidation", "Edema",  "Effusion",           "Emphysema", "Fibrosis",
    "Hernia",      "Infiltration", "Mass",          "Nodule", "Pleural_Thickening", "Pneumonia", "Pneumothorax"};

/// What stands in the table for an image without a finding, and the name of the table. Newer ones have an ending of
/// their own.
constexpr std::string_view noXrayFinding = "No Finding", xrayTable = "Data_Entry_2017";

/// Bytes of the largest table that is read.
constexpr uint64_t largestXrayTable = uint64_t{1} << 28;

/// Columns of the table.
constexpr std::string_view xrayImageColumn = "Image Index", xrayFindingsColumn = "Finding Labels",
                           xrayPatientColumn = "Patient ID";

/// How many patients train and how many are for validation, in the order of their numbers. The others are for tests.
struct PatientShares {
  int64_t training = 0, validation = 0;

  DataSplit splitOf(int64_t patient) const {
    if (patient <= training) return DataSplit::training;
    return patient <= training + validation ? DataSplit::validation : DataSplit::test;
  }
};

/// Seven tenths of the patients train, of the rest a third is for validation and two for tests. `patients`: the largest
/// number of one.
constexpr PatientShares patientShares(int64_t patients) {
  const int64_t training = patients * 7 / 10;
  return {training, (patients - training) / 3};
}

}  // namespace tandem
