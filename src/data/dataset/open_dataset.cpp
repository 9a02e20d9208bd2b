#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <vector>

#include "base/error.h"
#include "data/dataset/image_list.h"
#include "data/dataset/lmdb_dataset.h"
#include "data/dataset/memory_dataset.h"
#include "data/dataset/packed_shards.h"
#include "data/dataset/tf_records.h"
#include "data/dataset/web_dataset.h"
#include "data/dataset/wrapped_dataset.h"
#include "formats/archive/gzip.h"
#include "formats/dataset/cifar.h"
#include "formats/dataset/idx.h"
#include "formats/io/file.h"
#include "formats/objects/pickle.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;
using Paths = std::vector<std::string>;

constexpr uint64_t headBytes = 4096;
/// As their archives unpack; the last ones hold pickles.
constexpr std::array<const char*, 4> cifarFolders{"cifar-10-batches-bin", "cifar-100-binary", "cifar-10-batches-py",
                                                  "cifar-100-python"};
constexpr const char* wanted =
    "CIFAR-10's data_batch_1.bin to data_batch_5.bin (also in cifar-10-batches-bin/), CIFAR-100's train.bin (also in "
    "cifar-100-binary/), the pickles of either, MNIST's train-images-idx3-ubyte and train-labels-idx1-ubyte, plain or "
    ".gz, a folder of images for each class, a table of labels (labels.csv, labels.json), packed shards, TFRecords, "
    "WebDataset's tar archives, LMDB, or ChestX-ray14";

enum class Kind { cifarBatch, cifarPickle, idxImages, idxLabels, other };

/// What differs between the splits of a data set of pixels.
struct SplitFiles {
  DataSplit split;
  std::string_view cifarPrefix;  // of CIFAR-10's own names
  std::string_view cifarPickle;  // of CIFAR-100
  std::string_view idxPart;      // of MNIST's own names
  std::string_view wanted;       // what a folder should have
};

constexpr SplitFiles ofTraining{DataSplit::training, "data_batch_", "train", "train", wanted};
constexpr SplitFiles ofTest{
    DataSplit::test, "test_batch", "test", "t10k",
    "CIFAR-10's test_batch.bin, CIFAR-100's test.bin or MNIST's t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte, "
    "plain or .gz"};

/// Those of what is asked for. They have two splits.
const SplitFiles& filesFor(DataSplit asked) {
  const auto given = givenFor(asked, [](DataSplit each) { return each == ofTraining.split || each == ofTest.split; });
  return given == ofTest.split ? ofTest : ofTraining;
}

struct File {
  std::string path, name;
  Kind kind;
  const SplitFiles* holds;
};

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// An unreadable file matters only if it is selected, and is then refused by name.
std::vector<uint8_t> headOf(const std::string& path) {
  try {
    return readFileHead(path, headBytes);
  } catch (const DataError&) {
    return {};
  }
}

/// The name of a pickle of images. There are others beside them, with the names of classes.
bool isCifarPickleName(const std::string& name) {
  return std::ranges::any_of(std::array{ofTraining, ofTest}, [&](const SplitFiles& files) {
    return name == files.cifarPickle || name.starts_with(files.cifarPrefix);
  });
}

Kind kindOf(const std::string& path, const std::string& name) {
  std::vector<uint8_t> head = headOf(path);
  if (isGzip(head)) head = gunzipHead(head, 16);
  const bool bin = name.ends_with(".bin");
  std::error_code ignored;
  if (bin && cifarLayoutOf(fs::file_size(path, ignored)) != nullptr) return Kind::cifarBatch;
  const int dimensions = idxDimensions(head);
  if (dimensions == 3 || contains(name, "idx3-ubyte")) return Kind::idxImages;
  if (dimensions == 1 || contains(name, "idx1-ubyte")) return Kind::idxLabels;
  if (bin) return Kind::cifarBatch;
  return isPickle(head) && isCifarPickleName(name) ? Kind::cifarPickle : Kind::other;
}

void requireThere(const std::string& path) {
  std::error_code error;
  if (fs::exists(fs::status(path, error))) return;
  throw DataError(concat("data folder '", path, "' does not exist or cannot be reached; give a folder with ", wanted));
}

std::vector<File> listFiles(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    throw DataError(concat("'", folder,
                           "' is a file, and no table of labels (.csv, .json); give the folder that holds "
                           "the data set: ",
                           wanted));
  }
  fs::directory_iterator entries(folder, error);
  if (error) throw DataError(concat("cannot list data folder '", folder, "': ", error.message()));
  if (entries == fs::directory_iterator()) {
    throw DataError(concat("data folder '", folder, "' is empty; put there ", wanted));
  }
  std::vector<File> files;
  for (const fs::directory_entry& entry : entries) {
    if (!entry.is_regular_file(error)) continue;
    const std::string path = entry.path().string(), name = entry.path().filename().string();
    const bool test = name.starts_with(ofTest.cifarPickle) || contains(name, ofTest.idxPart);
    files.push_back({path, name, kindOf(path, name), test ? &ofTest : &ofTraining});
  }
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.name < b.name; });
  return files;
}

/// The files of one split in a folder.
struct Folder {
  std::string path;
  std::vector<File> files;  // of all splits
  const SplitFiles& wanted;

  std::vector<File> of(Kind kind) const {
    std::vector<File> selected;
    for (const File& file : files) {
      if (file.kind == kind && file.holds == &wanted) selected.push_back(file);
    }
    return selected;
  }
};

Paths pathsOf(const std::vector<File>& files) {
  Paths paths;
  for (const File& file : files) paths.push_back(file.path);
  return paths;
}

Paths cifarPaths(const Folder& folder, bool named) {
  std::vector<File> batches = folder.of(Kind::cifarBatch);
  std::erase_if(batches, [&](const File& file) { return file.name.starts_with(folder.wanted.cifarPrefix) != named; });
  return pathsOf(batches);
}

// Files with MNIST's own names are preferred; a plain file and its .gz count once.
Paths idxPaths(const Folder& folder, Kind kind) {
  std::vector<File> selected = folder.of(kind);
  const auto isNamed = [&](const File& file) { return contains(file.name, folder.wanted.idxPart); };
  if (std::any_of(selected.begin(), selected.end(), isNamed)) std::erase_if(selected, std::not_fn(isNamed));
  Paths paths;
  for (const File& file : selected) {
    if (paths.empty() || file.path != paths.back() + ".gz") paths.push_back(file.path);
  }
  return paths;
}

/// The file of images and the one of labels.
Paths idxPair(const Folder& folder) {
  const auto images = idxPaths(folder, Kind::idxImages), labels = idxPaths(folder, Kind::idxLabels);
  if (images.empty() && labels.empty()) return {};
  if (images.empty() || labels.empty()) {
    throw DataError(concat("data folder '", folder.path, "' has ", images.empty() ? labels[0] : images[0],
                           " but no IDX file of ", rowOf(folder.wanted.split).name, " ",
                           images.empty() ? "images" : "labels", " beside it; put there ", folder.wanted.wanted));
  }
  for (const auto& paths : {images, labels}) {
    if (paths.size() > 1) {
      throw DataError(concat("data folder '", folder.path, "' has several IDX files that could be the ",
                             rowOf(folder.wanted.split).name, " data: ", join(paths),
                             "; keep one pair of images and labels"));
    }
  }
  return {images[0], labels[0]};
}

[[noreturn]] void refuse(const Folder& folder) {
  const auto text = [&](const auto&... texts) { return concat("data folder '", folder.path, "' ", texts...); };
  for (const File& file : folder.files) {
    if (file.kind == Kind::other) continue;
    throw MissingSplit(text("holds only ", rowOf(file.holds->split).name, " images (", file.name, "); put there ",
                            folder.wanted.wanted));
  }
  for (const File& file : folder.files) {
    if (file.name.ends_with(".tar.gz") || file.name.ends_with(".tgz") || file.name.ends_with(".zip")) {
      throw DataError(text("holds an archive (", file.name, "); unpack it and give the folder with ", wanted));
    }
  }
  throw DataError(text("holds no data set that is known; looked for ", wanted));
}

/// A kind of data set whose pixels are kept in memory: where its files are, and what reads them.
struct PixelKind {
  Paths (*find)(const Folder& folder);  ///< empty: not this one
  std::unique_ptr<Dataset> (*open)(const Paths& paths);
  DatasetFacts (*probe)(const Paths& paths);
};

std::unique_ptr<Dataset> openCifar(const Paths& paths) { return openCifarFiles(paths); }
DatasetFacts probeCifar(const Paths& paths) { return probeCifarFiles(paths); }

/// In the order of precedence.
constexpr PixelKind pixelKinds[] = {
    {[](const Folder& folder) { return cifarPaths(folder, /*named=*/true); }, openCifar, probeCifar},
    {idxPair, [](const Paths& paths) { return openIdxFiles(paths[0], paths[1]); },
     [](const Paths& paths) { return probeIdxFiles(paths[0], paths[1]); }},
    {[](const Folder& folder) { return cifarPaths(folder, /*named=*/false); }, openCifar, probeCifar},
    {[](const Folder& folder) { return pathsOf(folder.of(Kind::cifarPickle)); }, openCifar, probeCifar},
};

/// What a path holds: how to open it, and its facts where these are known without.
struct Found {
  std::function<std::unique_ptr<Dataset>()> open;
  std::function<DatasetFacts()> probe;
  std::string where;                    // for messages: a file of it
  std::optional<DataSplit> split = {};  // whose images these are; none: it has no splits
  bool saysForm = false;                // whether the files of each split say their own size, labels and classes
};

std::optional<Found> found(std::optional<ImageList> list) {
  if (!list) return std::nullopt;
  const auto images = std::make_shared<const ImageList>(std::move(*list));
  return Found{.open = [images] { return openImageList(images); },
               .probe =
                   [images] {
                     return DatasetFacts{images->info, images->files.size()};
                   },
               .where = images->folder,
               .split = images->info.split};
}

/// A kind of data set whose samples lie in files of many.
struct ShardKind {
  ShardNames names;
  std::unique_ptr<Dataset> (*open)(const ShardList& list);
  bool saysForm = false;  // as Found::saysForm
};

constexpr ShardKind packedShards{{"packed", isPackedShard, {}}, openPackedShards, /*saysForm=*/true};
constexpr ShardKind tfRecords{{"tfrecord", isTfRecordName, {}}, openTfRecords};
constexpr ShardKind lmdbShards{{"lmdb", isLmdbShard, lmdbFile}, openLmdbDataset};
constexpr ShardKind webShards{{"webdataset", isWebShard, {}}, openWebDataset};

template <const ShardKind& kind>
std::optional<Found> foundShards(const std::string& path, DataSplit split) {
  auto list = listShards(path, split, kind.names);
  if (!list) return std::nullopt;
  const auto shards = std::make_shared<const ShardList>(std::move(*list));
  return Found{.open = [shards] { return kind.open(*shards); },
               .probe =
                   [shards] {
                     const auto images = kind.open(*shards);
                     return DatasetFacts{images->info(), images->size()};
                   },
               .where = shards->paths.front(),
               .split = shards->info.split,
               .saysForm = kind.saysForm};
}

Found found(const PixelKind& kind, const Paths& paths, DataSplit split) {
  return {.open = [&kind, paths] { return kind.open(paths); },
          .probe = [&kind, paths] { return kind.probe(paths); },
          .where = paths.front(),
          .split = split,
          .saysForm = true};
}

/// Data sets of image files. They look at names alone, and so come before the kinds of pixels, which read the head of
/// each file in the folder. None: not this one.
constexpr std::optional<Found> (*fileKinds[])(const std::string& path, DataSplit split) = {
    foundShards<packedShards>,
    [](const std::string& path, DataSplit split) { return found(listChestXray(path, split)); },
    [](const std::string& path, DataSplit split) { return found(listLabelledFiles(path, split)); },
    foundShards<tfRecords>,
    foundShards<lmdbShards>,
    [](const std::string& path, DataSplit split) { return found(listImageFolder(path, split)); },
    foundShards<webShards>,  // last: beside pictures an archive is what they were unpacked from
};

/// Whether a folder has the usual names of a kind of pixels. Pictures or tables beside these are something else.
bool hasPixelNames(const std::string& folder) {
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(ofTraining.cifarPrefix) || contains(name, "idx3-ubyte") ||
        std::ranges::find(cifarFolders, name) != cifarFolders.end()) {
      return true;
    }
  }
  return false;
}

Found findDataset(const std::string& path, DataSplit split) {
  requireThere(path);
  const bool looksAtFiles = !hasPixelNames(path);
  for (const auto list : fileKinds) {
    if (auto files = looksAtFiles ? list(path, split) : std::nullopt) return std::move(*files);
  }
  const Folder folder{path, listFiles(path), filesFor(split)};
  for (const PixelKind& kind : pixelKinds) {
    if (const Paths paths = kind.find(folder); !paths.empty()) return found(kind, paths, folder.wanted.split);
  }
  for (const char* inside : cifarFolders) {
    const fs::path nested = fs::path(path) / inside;
    std::error_code error;
    if (fs::is_directory(nested, error)) return findDataset(nested.string(), split);
  }
  refuse(folder);
}

/// Images that are described otherwise than they describe themselves.
class Redescribed final : public WrappedDataset {
 public:
  Redescribed(std::shared_ptr<const Dataset> images, DatasetInfo info)
      : WrappedDataset(std::move(images)), info_(std::move(info)) {}
  const DatasetInfo& info() const override { return info_; }

 private:
  const DatasetInfo info_;
};

/// What images are, for messages.
std::string formOf(const DatasetInfo& info) {
  const std::string size = concat(info.height, " x ", info.width, " x ", info.channels);
  return concat(info.encoded() ? "image files" : size, " with ", info.classes, " classes (", info.labels->summary, ")");
}

/// Whether images can be judged by a network that is trained on the others. A label then takes as many bytes.
bool fits(const DatasetInfo& own, const DatasetInfo& training) {
  const bool sizeFits = own.encoded() || (own.height == training.height && own.width == training.width &&
                                          own.channels == training.channels);
  return sizeFits && own.labels == training.labels && own.classes <= training.classes &&
         labelBytes(*own.labels, own.classes) == labelBytes(*training.labels, training.classes);
}

/// What was found, with the classes and the normalization of the training images. `own`: as it describes itself.
/// `infoOf`: how it describes training images that were found.
template <class InfoOf>
DatasetInfo described(const std::string& path, const Found& found, DatasetInfo own, const InfoOf& infoOf) {
  own.split = found.split;
  if (!found.saysForm || !found.split || found.split == DataSplit::training) return own;
  DatasetInfo training = infoOf(findDataset(path, DataSplit::training));
  if (!fits(own, training)) {
    throw DataError(concat(found.where, ": ", rowOf(*found.split).name, " images are ", formOf(own),
                           ", training images ", formOf(training), "; both must be of one data set"));
  }
  own.classes = training.classes;
  own.classNames = std::move(training.classNames);
  own.normalization = training.normalization;
  return own;
}

}  // namespace

std::unique_ptr<Dataset> openDataset(const std::string& path, const DatasetOptions& options) {
  const Found found = findDataset(path, options.split);
  auto images = found.open();
  DatasetInfo info = described(path, found, images->info(), [](const Found& it) { return it.open()->info(); });
  if (options.normalization != nullptr) info.normalization = *options.normalization;
  if (info.classes == 0) info.classes = options.classes;
  return std::make_unique<Redescribed>(std::move(images), std::move(info));
}

DatasetFacts probeDataset(const std::string& path, DataSplit split) {
  const Found found = findDataset(path, split);
  DatasetFacts facts = found.probe();
  facts.info = described(path, found, std::move(facts.info), [](const Found& it) { return it.probe().info; });
  return facts;
}

}  // namespace tandem
