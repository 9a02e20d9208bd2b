#include "data/writer/write_dataset.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "base/error.h"
#include "base/text.h"
#include "data/writer/samples_ahead.h"
#include "data/writer/unfinished_folder.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

int64_t shardsOf(const NewSplit& split, int64_t shardImages) { return (split.images + shardImages - 1) / shardImages; }

DataManifest emptyManifest(const NewDataset& dataset) {
  DataManifest manifest{.complete = false, .options = dataset.options, .splits = {}};
  for (const NewSplit& split : dataset.splits) {
    const auto shards = static_cast<size_t>(shardsOf(split, dataset.shardImages));
    manifest.splits.push_back({split.name, std::vector<std::optional<DataManifest::Shard>>(shards)});
  }
  return manifest;
}

class DatasetWriting {
 public:
  DatasetWriting(const NewDataset& dataset, const WritingEvents& events)
      : dataset_(dataset), events_(events), folder_(dataset.path), manifest_(folder_.begin(emptyManifest(dataset))) {}

  DataManifest run() {
    try {
      if (!manifest_.complete) write();
    } catch (const StorageError& failure) {
      throw StorageError(concat(failure.what(), "; what is finished stays in '", folder_.path(),
                                "', and the same command goes on with it"));
    }
    removeParts();
    folder_.finish();
    return manifest_;
  }

 private:
  void write() {
    dropUnusable();
    for (size_t i = 0; i < dataset_.splits.size(); ++i) writeSplit(i);
    join();
    manifest_.complete = true;
    folder_.save(manifest_);
  }

  /// Forgets shards whose files are gone, or lack images that now may not be left out.
  void dropUnusable() {
    int64_t kept = 0, all = 0;
    for (size_t i = 0; i < dataset_.splits.size(); ++i) {
      auto& shards = manifest_.splits[i].shards;
      for (size_t number = 0; number < shards.size(); ++number) {
        auto& shard = shards[number];
        std::error_code ignored;
        const std::string path = placeOf(i, number).path(dataset_.container->ending);
        const bool usable = shard && (dataset_.skipBad || shard->skipped == 0) && fs::exists(path, ignored);
        if (!usable) shard.reset();
        kept += usable ? 1 : 0;
        done_ += usable ? shard->images + shard->skipped : 0;
      }
      all += std::ssize(shards);
    }
    if (kept > 0 && events_.resumed) events_.resumed(kept, all);
  }

  ShardPlace placeOf(size_t split, size_t shard) const {
    return {.folder = folder_.path(),
            .splits = dataset_.splits,
            .number = split,
            .shard = static_cast<int64_t>(shard),
            .count = std::ssize(manifest_.splits[split].shards)};
  }

  void writeSplit(size_t i) {
    const NewSplit& split = dataset_.splits[i];
    auto& shards = manifest_.splits[i].shards;
    std::vector<ImageRange> missing;
    for (int64_t number = 0; number < std::ssize(shards); ++number) {
      const int64_t first = number * dataset_.shardImages;
      if (!shards[static_cast<size_t>(number)]) {
        missing.push_back({first, std::min(first + dataset_.shardImages, split.images)});
      }
    }
    SamplesAhead samples(split.make, missing, dataset_.skipBad);
    for (const ImageRange& range : missing) {
      const auto number = static_cast<size_t>(range.first / dataset_.shardImages);
      shards[number] = writeShard(placeOf(i, number), range, samples);
      folder_.save(manifest_);
    }
    if (manifest_.splits[i].images() > 0) return;
    throw DataError(
        concat("none of the ", split.images, " images for '", split.name, "' can be read; nothing is written"));
  }

  DataManifest::Shard writeShard(const ShardPlace& place, const ImageRange& range, SamplesAhead& samples) {
    DataManifest::Shard shard;
    const auto writer = dataset_.container->open(place);
    for (int64_t i = range.first; i < range.end; ++i) {
      const MadeSample made = samples.next();
      if (made.sample) {
        writer->add(*made.sample);
        ++shard.images;
      } else {
        ++shard.skipped;
        if (events_.skipped) events_.skipped(made.fault);
      }
      if (events_.progress) events_.progress(++done_, imagesInAll());
    }
    shard.file = writer->commit();
    return shard;
  }

  int64_t imagesInAll() const {
    return std::accumulate(dataset_.splits.begin(), dataset_.splits.end(), int64_t{0},
                           [](int64_t sum, const NewSplit& split) { return sum + split.images; });
  }

  void join() {
    if (dataset_.container->join == nullptr) return;
    std::vector<ShardPlace> first;
    for (size_t split = 0; split < dataset_.splits.size(); ++split) first.push_back(placeOf(split, 0));
    dataset_.container->join(first);
  }

  /// The shards that were joined.
  void removeParts() const {
    if (dataset_.container->join == nullptr) return;
    for (size_t split = 0; split < dataset_.splits.size(); ++split) {
      for (size_t number = 0; number < manifest_.splits[split].shards.size(); ++number) {
        std::error_code ignored;
        fs::remove(placeOf(split, number).path(dataset_.container->ending), ignored);
      }
    }
  }

  const NewDataset& dataset_;
  const WritingEvents& events_;
  UnfinishedFolder folder_;
  DataManifest manifest_;
  int64_t done_ = 0;
};

}  // namespace

DataManifest writeDataset(const NewDataset& dataset, const WritingEvents& events) {
  check(dataset.shardImages >= 1, "writeDataset: images in a shard");
  return DatasetWriting(dataset, events).run();
}

}  // namespace tandem
