#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset/dataset.h"

namespace tandem {

/// TFRecord files of one split, in the order of their names.
struct TfRecordList {
  DatasetInfo info;  ///< without the number of classes, which no file says
  std::vector<std::string> paths;
};

/// The TFRecord files of a folder: *.tfrecord, *.tfrecords, or NAME-00000-of-00128. Those of a split begin with train,
/// or with validation, val or test; if none does, all are of each split. None: there is no such file.
std::optional<TfRecordList> listTfRecords(const std::string& folder, DataSplit split);

/// Finds where all records begin. Throws DataError that names file, record and byte.
std::unique_ptr<Dataset> openTfRecords(const TfRecordList& list);

}  // namespace tandem
