#include <algorithm>
#include <filesystem>
#include <functional>
#include <vector>

#include "base/error.h"
#include "data/dataset/memory_dataset.h"
#include "formats/archive/gzip.h"
#include "formats/dataset/cifar10.h"
#include "formats/dataset/idx.h"
#include "formats/io/file.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;
using Paths = std::vector<std::string>;

constexpr uint64_t headBytes = 4096;
constexpr const char* wanted =
    "CIFAR-10's data_batch_1.bin to data_batch_5.bin (also in cifar-10-batches-bin/) or MNIST's "
    "train-images-idx3-ubyte "
    "and train-labels-idx1-ubyte, plain or .gz";

enum class Kind { cifarBatch, idxImages, idxLabels, pickle, other };

/// What differs between the splits of a data set.
struct SplitFiles {
  std::string_view adjective;    // "training"
  std::string_view cifarPrefix;  // of CIFAR-10's own names
  std::string_view idxPart;      // of MNIST's own names
  std::string_view wanted;       // what a folder should have
};

constexpr SplitFiles ofTraining{"training", "data_batch_", "train", wanted};
constexpr SplitFiles ofTest{"test", "test_batch", "t10k",
                            "CIFAR-10's test_batch.bin or MNIST's t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte, "
                            "plain or .gz"};

const SplitFiles& filesOf(DataSplit split) { return split == DataSplit::test ? ofTest : ofTraining; }

struct File {
  std::string path, name;
  Kind kind;
  bool test;  // holds the test images of its data set
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

Kind kindOf(const std::string& path, const std::string& name) {
  std::vector<uint8_t> head = headOf(path);
  if (isGzip(head)) head = gunzipHead(head, 16);
  const bool bin = name.ends_with(".bin");
  std::error_code ignored;
  if (bin && fs::file_size(path, ignored) % Cifar10::recordBytes == 0) return Kind::cifarBatch;
  const int dimensions = idxDimensions(head);
  if (dimensions == 3 || contains(name, "idx3-ubyte")) return Kind::idxImages;
  if (dimensions == 1 || contains(name, "idx1-ubyte")) return Kind::idxLabels;
  if (bin) return Kind::cifarBatch;
  return isPickle(head) ? Kind::pickle : Kind::other;
}

std::vector<File> listFiles(const std::string& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (!fs::exists(status)) {
    throw DataError(
        concat("data folder '", folder, "' does not exist or cannot be reached; give a folder with ", wanted));
  }
  if (!fs::is_directory(status)) {
    throw DataError(concat("'", folder, "' is a file; give the folder that holds the data set: ", wanted));
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
    files.push_back({path, name, kindOf(path, name), name.starts_with("test") || contains(name, "t10k")});
  }
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.name < b.name; });
  return files;
}

/// The files of one split in a folder.
struct Folder {
  std::string path;
  std::vector<File> files;  // of all splits
  DataSplit split;
  const SplitFiles& wanted = filesOf(split);

  std::vector<File> of(Kind kind) const {
    std::vector<File> selected;
    for (const File& file : files) {
      if (file.kind == kind && file.test == (split == DataSplit::test)) selected.push_back(file);
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
                           " but no IDX file of ", folder.wanted.adjective, " ", images.empty() ? "images" : "labels",
                           " beside it; put there ", folder.wanted.wanted));
  }
  for (const auto& paths : {images, labels}) {
    if (paths.size() > 1) {
      throw DataError(concat("data folder '", folder.path, "' has several IDX files that could be the ",
                             folder.wanted.adjective, " data: ", join(paths), "; keep one pair of images and labels"));
    }
  }
  return {images[0], labels[0]};
}

[[noreturn]] void refuse(const Folder& folder) {
  const auto says = [&](const auto&... texts) {
    return DataError(concat("data folder '", folder.path, "' ", texts...));
  };
  for (const File& file : folder.files) {
    if (file.kind == Kind::pickle) throw DataError(concat(file.path, ": byte 0: ", cifar10PickleHint));
  }
  for (const File& file : folder.files) {
    if (file.kind == Kind::other) continue;
    const SplitFiles& held = filesOf(file.test ? DataSplit::test : DataSplit::training);
    throw says("holds only ", held.adjective, " images (", file.name, "); put there ", folder.wanted.wanted);
  }
  for (const File& file : folder.files) {
    if (file.name.ends_with(".tar.gz") || file.name.ends_with(".tgz") || file.name.ends_with(".zip")) {
      throw says("holds an archive (", file.name, "); unpack it and give the folder with ", wanted);
    }
  }
  throw says("holds no data set that is known; looked for ", wanted);
}

/// A data set that is recognised: where its files are, and what reads them.
struct Recognised {
  Paths (*find)(const Folder& folder);  ///< empty: not this one
  std::unique_ptr<Dataset> (*open)(const Paths& paths);
  DatasetFacts (*probe)(const Paths& paths);
};

std::unique_ptr<Dataset> openCifar(const Paths& paths) { return openCifar10Files(paths); }
DatasetFacts probeCifar(const Paths& paths) { return probeCifar10Files(paths); }

/// In the order of precedence.
constexpr Recognised kinds[] = {
    {[](const Folder& folder) { return cifarPaths(folder, /*named=*/true); }, openCifar, probeCifar},
    {idxPair, [](const Paths& paths) { return openIdxFiles(paths[0], paths[1]); },
     [](const Paths& paths) { return probeIdxFiles(paths[0], paths[1]); }},
    {[](const Folder& folder) { return cifarPaths(folder, /*named=*/false); }, openCifar, probeCifar},
};

struct Found {
  const Recognised* kind;
  Paths paths;
};

Found findDataset(const std::string& path, DataSplit split) {
  const Folder folder{path, listFiles(path), split};
  for (const Recognised& kind : kinds) {
    if (Paths paths = kind.find(folder); !paths.empty()) return {&kind, std::move(paths)};
  }
  for (const char* inside : {"cifar-10-batches-bin", "cifar-10-batches-py"}) {
    const fs::path nested = fs::path(path) / inside;
    std::error_code error;
    if (fs::is_directory(nested, error)) return findDataset(nested.string(), split);
  }
  refuse(folder);
}

std::unique_ptr<Dataset> open(const Found& found) { return found.kind->open(found.paths); }

/// Test images with the classes and the normalization of the training images.
class TestImages final : public Dataset {
 public:
  TestImages(std::unique_ptr<Dataset> images, const DatasetInfo& training)
      : images_(std::move(images)), info_(training) {}
  const DatasetInfo& info() const override { return info_; }
  int64_t size() const override { return images_->size(); }
  void get(int64_t index, std::span<uint8_t> image, std::span<uint8_t> label) const override {
    images_->get(index, image, label);
  }

 private:
  std::unique_ptr<Dataset> images_;
  DatasetInfo info_;
};

std::unique_ptr<Dataset> openTest(const std::string& folder) {
  const Found test = findDataset(folder, DataSplit::test);
  auto images = open(test);
  const DatasetInfo own = images->info(), training = open(findDataset(folder, DataSplit::training))->info();
  const auto sizeOf = [](const DatasetInfo& info) {
    return concat(info.height, " x ", info.width, " x ", info.channels, " with ", info.classes, " classes");
  };
  const bool fits = own.height == training.height && own.width == training.width && own.channels == training.channels &&
                    own.classes <= training.classes;
  if (!fits) {
    throw DataError(concat(test.paths.front(), ": test images are ", sizeOf(own), ", training images ",
                           sizeOf(training), "; both must be of one data set"));
  }
  return std::make_unique<TestImages>(std::move(images), training);
}

}  // namespace

std::unique_ptr<Dataset> openDataset(const std::string& folder, DataSplit split) {
  return split == DataSplit::test ? openTest(folder) : open(findDataset(folder, split));
}

DatasetFacts probeDataset(const std::string& folder) {
  const Found found = findDataset(folder, DataSplit::training);
  return found.kind->probe(found.paths);
}

}  // namespace tandem
