#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

/// Readers of the system's description files. Each takes the text, so that tests can use the files of any machine. A
/// missing fact is "unknown", 0 or absent.

/// The text of a file in /proc or /sys. Empty if it cannot be read.
std::string textOf(const std::string& path);

/// The text of /proc/cpuinfo. It is read once in the life of the process: with many processors it takes long.
const std::string& cpuInfo();

/// Parses a whole number surrounded by nothing but blanks and line ends.
std::optional<int64_t> wholeNumber(std::string_view text);

/// Processor name from /proc/cpuinfo.
std::string cpuModel(std::string_view cpuinfo);

/// The features in /proc/cpuinfo that select kernels, oldest first.
std::vector<std::string> cpuFeatures(std::string_view cpuinfo);

/// One line with name and features, and with family, model and cache if listed. Timings of kernels hold for one such
/// line. The name alone is not enough: virtual machines may give different processors one name.
std::string cpuKind(std::string_view cpuinfo);

/// The name of this host in its network; "unknown" if the system does not say.
std::string hostName();

/// Names this boot of this machine, for containers in it too; if the system does not say, hostName().
/// Processes with the same have one monotonic clock.
std::string bootId();

/// PRETTY_NAME of /etc/os-release.
std::string osName(std::string_view osRelease);

/// Bytes of a field of /proc/meminfo, such as "MemTotal".
int64_t memoryField(std::string_view meminfo, std::string_view field);

/// The first number with a dot in it: "3.10.2" from "Intel(R) MKL-DNN v3.10.2 (Git Hash ...)".
std::string versionNumber(std::string_view text);

/// The variables of `environment` (null-terminated, "NAME=value") that change results: OMP_*, MALLOC_*, ...
std::map<std::string, std::string> resultVariables(const char* const* environment);

/// Whether a variable would override the placement of the replicas' threads. A measured process does not get such
/// variables.
bool overridesPlacement(std::string_view variable);

}  // namespace tandem
