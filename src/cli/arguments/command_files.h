#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "config/option.h"

namespace tandem {

/// A file or folder that a command reads or writes.
struct CommandFile {
  std::string title;  ///< as it was typed, for errors: "--out=x.jsonl"
  std::string path;
  FileUse use = FileUse::read;
  int64_t bytes = 0;  ///< that will be written to a file that is replaced; 0: not known
};

/// The files that the options of a configuration name. `command`: its bit in Commands.
std::vector<CommandFile> filesOf(const Config& config, unsigned command);

/// Throws UsageError if one file is written twice, or is read and written; links to one file are that file. Throws
/// StorageError if a file that is to be replaced cannot be, for want of room too.
void checkFiles(std::span<const CommandFile> files);

}  // namespace tandem
