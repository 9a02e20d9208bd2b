#include "data/dataset/dataset.h"

#include <set>

#include "base/text.h"
#include "base/utf8.h"

namespace tandem {

std::string Dataset::nameOf(int64_t index) const {
  return concat("image ", index, " (from 0) of data set '", info().name, "'");
}

void Dataset::readLabel(int64_t index, std::span<uint8_t> label) const {
  std::vector<uint8_t> memory;
  read(index, memory, label);
}

std::vector<std::string> oneLineNames(std::vector<std::string> names) {
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (name.empty() || withoutControls(name) != name || !seen.insert(name).second) return {};
  }
  return names;
}

}  // namespace tandem
