#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "formats/archive/gzip.h"
#include "formats/io/file.h"
#include "support/tests_folder.h"

namespace tandem {

/// A file of tests/golden/datasets, unpacked.
inline std::vector<uint8_t> goldenDataset(const std::string& name) {
  auto bytes = readFile(concat(testsFolder(), "/golden/datasets/", name), 1 << 20);
  return isGzip(bytes) ? valueOrThrow(gunzip(bytes), name) : bytes;
}

/// The bytes with the first place of `from` replaced by `to`, which may be of another length. REQUIRES: there is one.
inline std::vector<uint8_t> replaced(std::vector<uint8_t> bytes, std::string_view from, std::string_view to) {
  std::string text(bytes.begin(), bytes.end());
  text.replace(text.find(from), from.size(), to);
  return {text.begin(), text.end()};
}

}  // namespace tandem
