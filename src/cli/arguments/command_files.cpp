#include "cli/arguments/command_files.h"

#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "formats/io/atomic_file.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view standardOutput = "-";

/// By device and inode where both exist, else by path. Devices, as /dev/null, keep what several write apart.
bool isOne(const std::string& a, const std::string& b) {
  std::error_code unknown;
  if (fs::is_character_file(a, unknown)) return false;
  if (fs::equivalent(a, b, unknown)) return true;
  const auto whole = [&](const std::string& path) { return fs::weakly_canonical(fs::absolute(path), unknown); };
  return whole(a) == whole(b);
}

FileUse useOf(const Option& option, unsigned command) {
  return option.file == FileUse::appended && command != onBench ? FileUse::replaced : option.file;
}

void checkApart(const CommandFile& file, const CommandFile& other) {
  const bool reads = file.use == FileUse::read || other.use == FileUse::read;
  if (file.use == other.use && reads) return;
  if (!isOne(file.path, other.path)) return;
  throw UsageError(concat(file.title, " and ", other.title, " are one file, which ",
                          reads ? "is read and would be replaced" : "both would write", "; name two"));
}

}  // namespace

std::vector<CommandFile> filesOf(const Config& config, unsigned command) {
  std::vector<CommandFile> files;
  for (const Option& option : options()) {
    if (option.file == FileUse::none || (option.commands & command) == 0) continue;
    const std::string& path = std::get<FieldOf<std::string>>(option.field).read(config);
    const bool names = option.values == Values::any ? !path.empty() && path != standardOutput : isFile(option, path);
    if (names) files.push_back({concat("--", option.name, "=", path), path, useOf(option, command)});
  }
  return files;
}

void checkFiles(std::span<const CommandFile> files) {
  for (size_t i = 0; i < files.size(); ++i) {
    for (size_t j = i + 1; j < files.size(); ++j) checkApart(files[i], files[j]);
  }
  for (const CommandFile& file : files) {
    if (file.use == FileUse::replaced) requireReplaceable(file.path, file.bytes);
  }
}

}  // namespace tandem
