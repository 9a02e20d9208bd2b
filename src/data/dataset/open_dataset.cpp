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

std::vector<File> select(const std::vector<File>& files, Kind kind) {
  std::vector<File> selected;
  for (const File& file : files) {
    if (file.kind == kind && !file.test) selected.push_back(file);
  }
  return selected;
}

Paths pathsOf(const std::vector<File>& files) {
  Paths paths;
  for (const File& file : files) paths.push_back(file.path);
  return paths;
}

Paths cifarPaths(const std::vector<File>& files, bool named) {
  std::vector<File> batches = select(files, Kind::cifarBatch);
  std::erase_if(batches, [&](const File& file) { return file.name.starts_with("data_batch_") != named; });
  return pathsOf(batches);
}

// Files named train are preferred; a plain file and its .gz count once.
Paths idxPaths(const std::vector<File>& files, Kind kind) {
  std::vector<File> selected = select(files, kind);
  const auto isTrain = [](const File& file) { return contains(file.name, "train"); };
  if (std::any_of(selected.begin(), selected.end(), isTrain)) std::erase_if(selected, std::not_fn(isTrain));
  Paths paths;
  for (const File& file : selected) {
    if (paths.empty() || file.path != paths.back() + ".gz") paths.push_back(file.path);
  }
  return paths;
}

/// The file of images and the one of labels.
Paths idxPair(const std::string& folder, const std::vector<File>& files) {
  const auto images = idxPaths(files, Kind::idxImages), labels = idxPaths(files, Kind::idxLabels);
  if (images.empty() && labels.empty()) return {};
  if (images.empty() || labels.empty()) {
    throw DataError(concat("data folder '", folder, "' has ", images.empty() ? labels[0] : images[0],
                           " but no IDX file of training ", images.empty() ? "images" : "labels",
                           " beside it; put there ", wanted));
  }
  for (const auto& paths : {images, labels}) {
    if (paths.size() > 1) {
      throw DataError(concat("data folder '", folder, "' has several IDX files that could be the training data: ",
                             join(paths), "; keep one pair of images and labels"));
    }
  }
  return {images[0], labels[0]};
}

[[noreturn]] void refuse(const std::string& folder, const std::vector<File>& files) {
  for (const File& file : files) {
    if (file.kind == Kind::pickle) throw DataError(concat(file.path, ": byte 0: ", cifar10PickleHint));
  }
  for (const File& file : files) {
    if (file.test && file.kind != Kind::other) {
      throw DataError(
          concat("data folder '", folder, "' holds only test images (", file.name, "); training needs ", wanted));
    }
  }
  for (const File& file : files) {
    if (file.name.ends_with(".tar.gz") || file.name.ends_with(".tgz") || file.name.ends_with(".zip")) {
      throw DataError(concat("data folder '", folder, "' holds an archive (", file.name,
                             "); unpack it and give the folder with ", wanted));
    }
  }
  throw DataError(concat("data folder '", folder, "' holds no data set that is known; looked for ", wanted));
}

/// A data set that is recognised: where its training files are, and what reads them.
struct Recognised {
  Paths (*find)(const std::string& folder, const std::vector<File>& files);  ///< empty: not this one
  std::unique_ptr<Dataset> (*open)(const Paths& paths);
  DatasetFacts (*probe)(const Paths& paths);
};

std::unique_ptr<Dataset> openCifar(const Paths& paths) { return openCifar10Files(paths); }
DatasetFacts probeCifar(const Paths& paths) { return probeCifar10Files(paths); }

/// In the order of precedence.
constexpr Recognised kinds[] = {
    {[](const std::string&, const std::vector<File>& files) { return cifarPaths(files, /*named=*/true); }, openCifar,
     probeCifar},
    {idxPair, [](const Paths& paths) { return openIdxFiles(paths[0], paths[1]); },
     [](const Paths& paths) { return probeIdxFiles(paths[0], paths[1]); }},
    {[](const std::string&, const std::vector<File>& files) { return cifarPaths(files, /*named=*/false); }, openCifar,
     probeCifar},
};

struct Found {
  const Recognised* kind;
  Paths paths;
};

Found findDataset(const std::string& folder) {
  const std::vector<File> files = listFiles(folder);
  for (const Recognised& kind : kinds) {
    if (Paths paths = kind.find(folder, files); !paths.empty()) return {&kind, std::move(paths)};
  }
  for (const char* inside : {"cifar-10-batches-bin", "cifar-10-batches-py"}) {
    const fs::path nested = fs::path(folder) / inside;
    std::error_code error;
    if (fs::is_directory(nested, error)) return findDataset(nested.string());
  }
  refuse(folder, files);
}

}  // namespace

std::unique_ptr<Dataset> openDataset(const std::string& folder) {
  const Found found = findDataset(folder);
  return found.kind->open(found.paths);
}

DatasetFacts probeDataset(const std::string& folder) {
  const Found found = findDataset(folder);
  return found.kind->probe(found.paths);
}

}  // namespace tandem
