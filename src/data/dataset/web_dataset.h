#pragma once

#include <memory>

#include "data/dataset/shards.h"

namespace tandem {

/// Whether a file is a shard of WebDataset by its name: *.tar.
bool isWebShard(std::string_view name);

/// Finds where all samples lie. Throws DataError that names file and byte.
std::unique_ptr<Dataset> openWebDataset(const ShardList& list);

}  // namespace tandem
