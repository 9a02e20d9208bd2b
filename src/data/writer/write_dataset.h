#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data/writer/container.h"
#include "formats/dataset/data_manifest.h"

namespace tandem {

/// A data set that is written.
struct NewDataset {
  std::string path;  ///< of its folder, without a slash at its end
  const ContainerEntry* container = nullptr;
  int64_t shardImages = 1;  ///< images in a shard at most
  bool skipBad = false;     ///< whether images that cannot be read are left out; else the first one ends the writing
  std::vector<std::pair<std::string, std::string>> options = {};  ///< all that its content is a function of
  std::vector<NewSplit> splits = {};
};

/// What is told while a data set is written, on the calling thread. Each may be empty.
struct WritingEvents {
  std::function<void(int64_t kept, int64_t all)> resumed = {};   ///< shards that are there already
  std::function<void(int64_t done, int64_t all)> progress = {};  ///< images of all splits, after each
  std::function<void(const std::string& reason)> skipped = {};   ///< an image that could not be read
};

/// Writes a data set. As long as it is not complete its folder is named PATH.part and has a manifest of what is there
/// (formats/dataset/data_manifest.h). A call with the same options goes on with it, and makes the shards that are
/// missing. Where PATH is complete by the same options, there is nothing to do. Samples are made by a thread for each
/// core and written by the caller, in the order of their numbers, so the files are a function of the options.
///
/// Returns the manifest. Throws StorageError for a path at which something else is, what another process writes at the
/// same time, or a file that cannot be written; DataError for an image that cannot be read, and for a split of which
/// none can. REQUIRES: the container holds such samples and labels; splits have images.
DataManifest writeDataset(const NewDataset& dataset, const WritingEvents& events = {});

}  // namespace tandem
