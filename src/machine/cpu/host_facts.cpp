#include "machine/cpu/host_facts.h"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>

#include "base/number.h"
#include "base/text.h"

namespace tandem {
namespace {

constexpr std::array knownFeatures{"avx",         "avx2",        "fma",         "avx_vnni", "avx512f",  "avx512bw",
                                   "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_bf16", "amx_int8",
                                   "asimd",       "asimddp",     "bf16",        "sve",      "sve2"};

// clang-format off
constexpr std::array resultPrefixes{
    "OMP_", "KMP_", "GOMP_", "MKL_", "MALLOC_", "TORCH_", "PYTORCH_", "ATEN_", "ONEDNN_", "DNNL_", "CUDNN_", "CUBLAS_",
    "NCCL_", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_", "CUDA_LAUNCH_BLOCKING", "CUDA_MODULE_LOADING",
    "NVIDIA_TF32_OVERRIDE", "LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "GLIBC_TUNABLES", "TANDEM_VECTORS"};
// clang-format on

constexpr std::array placementVariables{"OMP_PROC_BIND",    "OMP_PLACES",    "OMP_WAIT_POLICY",   "OMP_NUM_THREADS",
                                        "OMP_THREAD_LIMIT", "OMP_DYNAMIC",   "GOMP_CPU_AFFINITY", "GOMP_SPINCOUNT",
                                        "KMP_AFFINITY",     "KMP_BLOCKTIME", "MKL_NUM_THREADS",   "MKL_DYNAMIC"};

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\"");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\"\r") - first + 1);
}

/// The value of the first line "KEY<blanks>SEPARATOR value".
std::optional<std::string> field(std::string_view text, std::string_view key, char separator) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto at = line.find(separator);
    if (at != std::string_view::npos && trimmed(line.substr(0, at)) == key)
      return std::string(trimmed(line.substr(at + 1)));
  }
  return std::nullopt;
}

}  // namespace

std::string textOf(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();  // unlike iterators it throws nothing where reading fails, as when the process has just ended
  return text.str();
}

const std::string& cpuInfo() {
  static const std::string text = textOf("/proc/cpuinfo");
  return text;
}

std::optional<int64_t> wholeNumber(std::string_view text) {
  constexpr std::string_view blanks = " \t\n";
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  text = text.substr(0, text.find_last_not_of(blanks) + 1);
  return numberIn<int64_t>(text);
}

std::string cpuModel(std::string_view cpuinfo) { return field(cpuinfo, "model name", ':').value_or("unknown"); }

std::vector<std::string> cpuFeatures(std::string_view cpuinfo) {
  const auto line = field(cpuinfo, "flags", ':');
  const auto flags = split(line ? *line : field(cpuinfo, "Features", ':').value_or(""), " ");
  std::vector<std::string> found;
  for (const char* feature : knownFeatures) {
    if (std::find(flags.begin(), flags.end(), feature) != flags.end()) found.emplace_back(feature);
  }
  return found;
}

std::string cpuKind(std::string_view cpuinfo) {
  std::string kind = cpuModel(cpuinfo);
  for (const char* fact : {"cpu family", "model", "cache size"}) {
    if (const auto value = field(cpuinfo, fact, ':')) kind = concat(kind, ", ", fact, ' ', *value);
  }
  return concat(kind, " with ", join(cpuFeatures(cpuinfo), " "));
}

std::string hostName() {
  utsname system{};
  return uname(&system) == 0 ? system.nodename : "unknown";
}

std::string bootId() {
  const std::string id = firstLine(textOf("/proc/sys/kernel/random/boot_id"));
  return id.empty() ? hostName() : id;
}

std::string osName(std::string_view osRelease) { return field(osRelease, "PRETTY_NAME", '=').value_or("unknown"); }

int64_t memoryField(std::string_view meminfo, std::string_view name) {
  const auto text = field(meminfo, name, ':').value_or("");
  int64_t kib = 0;
  std::from_chars(text.data(), text.data() + text.size(), kib);
  return kib * 1024;
}

std::string versionNumber(std::string_view text) {
  const auto isNumeric = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.'; };
  for (auto at = text.begin(); at != text.end();) {
    at = std::find_if(at, text.end(), isNumeric);
    const auto end = std::find_if_not(at, text.end(), isNumeric);
    std::string number(at, end);
    if (number.find('.') != std::string::npos && number.size() >= 3 && number.front() != '.') return number;
    at = end;
  }
  return "unknown";
}

std::map<std::string, std::string> resultVariables(const char* const* environment) {
  std::map<std::string, std::string> found;
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const auto matches = [&](const char* prefix) { return entry.starts_with(prefix); };
    if (std::none_of(resultPrefixes.begin(), resultPrefixes.end(), matches)) continue;
    const auto equals = entry.find('=');
    if (equals != std::string_view::npos) found.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return found;
}

bool overridesPlacement(std::string_view variable) {
  return std::find(placementVariables.begin(), placementVariables.end(), variable) != placementVariables.end();
}

}  // namespace tandem
