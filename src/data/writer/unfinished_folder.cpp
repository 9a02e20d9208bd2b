#include "data/writer/unfinished_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "base/utf8.h"
#include "data/writer/container.h"
#include "formats/io/atomic_file.h"
#include "formats/io/file.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t largestManifest = uint64_t{1} << 26;

bool isThere(const std::string& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

std::optional<DataManifest> manifestIn(const std::string& folder) {
  const std::string path = concat(folder, '/', manifestName);
  if (!isThere(path)) return std::nullopt;
  return valueOrThrow(parseManifest(readFile(path, largestManifest)), path);
}

/// What of the options and splits is not as in `wanted`; empty: nothing.
std::string difference(const DataManifest& there, const DataManifest& wanted) {
  for (size_t i = 0; i < std::max(there.options.size(), wanted.options.size()); ++i) {
    if (i >= there.options.size()) return concat("'", wanted.options[i].first, "' was not given");
    if (i >= wanted.options.size() || there.options[i].first != wanted.options[i].first) {
      return concat("'", escaped(there.options[i].first), "' was given");
    }
    if (there.options[i].second == wanted.options[i].second) continue;
    return concat(wanted.options[i].first, " was '", escaped(there.options[i].second), "', and is '",
                  wanted.options[i].second, "'");
  }
  const auto areAlike = [](const DataManifest::Split& a, const DataManifest::Split& b) {
    return a.name == b.name && a.shards.size() == b.shards.size();
  };
  return std::ranges::equal(there.splits, wanted.splits, areAlike) ? "" : "it has other files";
}

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw StorageError(concat("'", path, "' is there already", reason, "; give another path, or remove it"));
}

}  // namespace

UnfinishedFolder::UnfinishedFolder(std::string path) : path_(std::move(path)), part_(path_ + ".part") {}

UnfinishedFolder::~UnfinishedFolder() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

DataManifest UnfinishedFolder::begin(const DataManifest& wanted) {
  if (isThere(path_)) {
    const auto manifest = manifestIn(path_);
    if (!manifest) refuse(path_, "");
    if (const auto other = difference(*manifest, wanted); !other.empty())
      refuse(path_, concat(", made otherwise: ", other));
    if (manifest->complete) return *manifest;
    refuse(path_, ", and is not complete");
  }
  const bool isNew = !isThere(part_);
  makeFolder(part_);
  lock();
  const auto manifest = manifestIn(part_);
  if (manifest) {
    if (const auto other = difference(*manifest, wanted); !other.empty()) {
      refuse(part_, concat(", begun with other options: ", other));
    }
    return *manifest;
  }
  std::error_code error;
  if (!isNew && !fs::is_empty(part_, error)) refuse(part_, concat(" and has no ", manifestName));
  save(wanted);
  return wanted;
}

// File systems that have no locks are written to without one.
void UnfinishedFolder::lock() {
  descriptor_ = ::open(part_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ < 0) throw StorageError(concat("cannot open folder '", part_, "': ", std::strerror(errno)));
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  throw StorageError(concat("another process writes to '", part_, "'; wait for it, or end it"));
}

void UnfinishedFolder::save(const DataManifest& manifest) const {
  writeAtomically(concat(part_, '/', manifestName), asBytes(manifestText(manifest)));
}

void UnfinishedFolder::finish() const {
  if (isThere(path_)) return;
  std::error_code error;
  fs::rename(part_, path_, error);
  if (error) throw StorageError(concat("cannot rename '", part_, "': ", error.message()));
}

}  // namespace tandem
