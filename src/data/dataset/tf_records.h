#pragma once

#include <memory>

#include "data/dataset/shards.h"

namespace tandem {

/// Whether a file holds TFRecords by its name: *.tfrecord, *.tfrecords, or NAME-00000-of-00128.
bool isTfRecordName(std::string_view name);

/// Finds where all records begin. Throws DataError that names file, record and byte.
std::unique_ptr<Dataset> openTfRecords(const ShardList& list);

}  // namespace tandem
