#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

/// Readers of the system's own descriptions. Each takes the text, so that any machine's files can be tested; a fact
/// that is not there is "unknown", 0 or absent.

/// Whole text of a file of /proc or /sys; empty when it cannot be read.
std::string textOf(const std::string& path);

/// A whole number and nothing else but blanks and line ends.
std::optional<int64_t> wholeNumber(std::string_view text);

/// Processor name from /proc/cpuinfo.
std::string cpuModel(std::string_view cpuinfo);

/// The features by which kernels are chosen that /proc/cpuinfo lists, oldest first.
std::vector<std::string> cpuFeatures(std::string_view cpuinfo);

/// Both, with family, model and cache where they are listed, in one line: what measurements of kernels hold for.
/// Virtual machines may call different processors by one name.
std::string cpuKind(std::string_view cpuinfo);

/// PRETTY_NAME of /etc/os-release.
std::string osName(std::string_view osRelease);

/// Bytes of a field of /proc/meminfo, e.g. "MemTotal".
int64_t memoryField(std::string_view meminfo, std::string_view field);

/// "3.10.2" from "Intel(R) MKL-DNN v3.10.2 (Git Hash ...)": the first number with a dot in it.
std::string versionNumber(std::string_view text);

/// The variables of `environment` (null-terminated, "NAME=value") that change what is measured: OMP_*, MALLOC_*, ...
std::map<std::string, std::string> resultVariables(const char* const* environment);

/// Variables that would undo the placement of the replicas' threads; a measured process does not get them.
bool overridesPlacement(std::string_view variable);

}  // namespace tandem
