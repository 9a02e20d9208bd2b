#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "data/dataset/image_list.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

constexpr int deepest = 16;  // folders below that of a class; a loop of links ends there

[[noreturn]] void failToList(const fs::path& path, const std::error_code& error) {
  throw DataError(concat("cannot list data folder '", path.string(), "': ", error.message()));
}

std::vector<fs::directory_entry> entriesOf(const fs::path& path) {
  std::vector<fs::directory_entry> entries;
  std::error_code error;
  fs::directory_iterator entry(path, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) entries.push_back(*entry);
  if (error) failToList(path, error);
  return entries;
}

/// Names of the folders in a folder, sorted.
std::vector<std::string> foldersIn(const fs::path& path) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::directory_entry& entry : entriesOf(path)) {
    if (entry.is_directory(ignored)) names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

/// Appends the images in a folder and those below it, sorted, as paths behind `prefix`.
void addImages(const fs::path& path, const std::string& prefix, int depth, std::vector<std::string>& found) {
  if (depth > deepest) throw DataError(concat("'", path.string(), "' is more than ", deepest, " folders deep"));
  std::vector<std::string> folders;
  std::error_code ignored;
  for (const fs::directory_entry& entry : entriesOf(path)) {
    std::string name = entry.path().filename().string();
    if (entry.is_directory(ignored)) {
      folders.push_back(std::move(name));
    } else if (isImageName(name)) {
      found.push_back(prefix + name);
    }
  }
  for (const std::string& name : folders) addImages(path / name, concat(prefix, name, '/'), depth + 1, found);
}

std::vector<std::string> imagesOf(const fs::path& folder, const std::string& name) {
  std::vector<std::string> found;
  addImages(folder / name, name + '/', 0, found);
  std::ranges::sort(found);
  return found;
}

/// Whether a folder has an image; else appends the folders in it. One that cannot be listed has neither.
bool hasImage(const fs::path& path, std::vector<fs::path>& folders) {
  std::error_code error;
  fs::directory_iterator entry(path, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored)) {
      folders.push_back(entry->path());
    } else if (isImageName(entry->path().filename().string())) {
      return true;
    }
  }
  return false;
}

/// Whether the folder of a class, or one below it, has an image. `seen`: folders that have none. Links may lead to a
/// folder on many ways, so each is looked into once.
bool isClass(const fs::path& path, std::set<fs::path>& seen) {
  std::vector<fs::path> level{path};
  for (int depth = 0; depth <= deepest && !level.empty(); ++depth) {
    std::vector<fs::path> below;
    for (const fs::path& folder : level) {
      std::error_code error;
      const fs::path real = fs::canonical(folder, error);
      if (error || !seen.insert(real).second) continue;
      if (hasImage(folder, below)) return true;
    }
    level = std::move(below);
  }
  return false;
}

/// Whether there is a class with an image.
bool isImageFolder(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return false;
  std::set<fs::path> seen;
  return std::ranges::any_of(foldersIn(path), [&](const std::string& name) { return isClass(path / name, seen); });
}

/// The folder of a split. None: there is none with a class.
std::optional<fs::path> folderOf(const fs::path& path, DataSplit split) {
  for (const std::string_view word : rowOf(split).recognised) {
    if (isImageFolder(path / word)) return path / word;
  }
  return std::nullopt;
}

/// The folder of the images that are asked for, and that whose classes they have.
struct Place {
  fs::path folder, ofClasses;
  std::optional<DataSplit> split = {};  // none: there is one folder for all
};

std::optional<Place> placeOf(const fs::path& path, DataSplit asked) {
  const auto has = [&](DataSplit each) { return folderOf(path, each).has_value(); };
  const bool hasSplits = std::ranges::any_of(dataSplits(), has, &DataSplitEntry::split);
  if (!hasSplits) return isImageFolder(path) ? std::optional(Place{path, path}) : std::nullopt;
  if (const auto split = givenFor(asked, has)) {
    const fs::path folder = *folderOf(path, *split);
    return Place{folder, folderOf(path, DataSplit::training).value_or(folder), split};
  }
  throw MissingSplit(concat("data folder '", path.string(), "' has no ", rowOf(asked).name, " images; put them into ",
                            (path / rowOf(asked).written).string(),
                            ", one folder for each class, or ask for a split that is there"));
}

}  // namespace

std::optional<ImageList> listImageFolder(const std::string& path, DataSplit split) {
  const auto place = placeOf(path, split);
  if (!place) return std::nullopt;
  const auto& [folder, ofClasses, given] = *place;
  const std::vector<std::string> classes = foldersIn(ofClasses);
  ImageList list;
  list.folder = folder.string() + '/';
  list.info = {
      .name = "image folder", .classes = std::ssize(classes), .classNames = oneLineNames(classes), .split = given};
  for (const std::string& name : foldersIn(folder)) {
    const auto known = std::ranges::lower_bound(classes, name);
    if (known == classes.end() || *known != name) {
      throw DataError(concat("'", list.folder, name, "' is a class that '", ofClasses.string(), "' does not have"));
    }
    const std::vector<std::string> images = imagesOf(folder, name);
    if (images.empty()) {
      throw DataError(concat("'", list.folder, name,
                             "' is a class without images (.jpg, .jpeg, .png); remove the folder, "
                             "or put images there"));
    }
    for (const std::string& image : images) list.addClass(image, known - classes.begin());
  }
  return list;
}

}  // namespace tandem
