#pragma once

#include <memory>

#include "data/dataset/shards.h"

namespace tandem {

/// The ending of the names of packed shards (formats/dataset/packed_shard.h).
constexpr std::string_view packedEnding = ".tandem";

/// Whether a file is a packed shard by its name.
bool isPackedShard(std::string_view name);

/// Finds where all samples lie. Pixels are normalised by the sums that the shards have over theirs. A sample whose
/// checksum differs cannot be read, the others can. Throws DataError that names file and byte.
std::unique_ptr<Dataset> openPackedShards(const ShardList& list);

}  // namespace tandem
