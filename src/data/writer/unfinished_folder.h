#pragma once

#include <string>

#include "formats/dataset/data_manifest.h"

namespace tandem {

/// The folder of a data set while it is written: PATH.part, which becomes PATH at the end. It has a manifest from the
/// beginning, by which a later process knows what is there. Only one process writes to it at a time. Members throw
/// StorageError, and DataError for a manifest that is damaged.
class UnfinishedFolder {
 public:
  /// REQUIRES: no slash at the path's end.
  explicit UnfinishedFolder(std::string path);
  ~UnfinishedFolder();
  UnfinishedFolder(const UnfinishedFolder&) = delete;
  UnfinishedFolder& operator=(const UnfinishedFolder&) = delete;

  /// The manifest that is there, if it is of the same options and splits as `wanted`, else refuses the path; `wanted`,
  /// which is then in the new folder, if there is none. It is complete only where nothing more is to be written.
  DataManifest begin(const DataManifest& wanted);
  void save(const DataManifest& manifest) const;
  /// Gives the folder its name, if it does not have it.
  void finish() const;

  /// Where files are written.
  const std::string& path() const { return part_; }

 private:
  void lock();

  const std::string path_, part_;
  int descriptor_ = -1;
};

}  // namespace tandem
