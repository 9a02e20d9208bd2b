#pragma once

#include <memory>

#include "data/dataset/shards.h"

namespace tandem {

/// Whether a file is one of LMDB by its name: *.lmdb or *.mdb. A folder of LMDB holds `lmdbFile`.
bool isLmdbShard(std::string_view name);
constexpr std::string_view lmdbFile = "data.mdb";

/// Finds where all datapoints of tensorpack lie. Throws DataError that names file and byte.
std::unique_ptr<Dataset> openLmdbDataset(const ShardList& list);

}  // namespace tandem
