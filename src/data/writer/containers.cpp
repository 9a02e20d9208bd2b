#include <algorithm>
#include <array>

#include "base/text.h"
#include "data/writer/container.h"

namespace tandem {

std::span<const ContainerEntry> containers() {
  static const std::array table{packedContainer, webContainer, tfContainer, folderContainer};
  return table;
}

std::string digits(int64_t number, size_t width) {
  const std::string text = concat(number);
  return std::string(width - std::min(width, text.size()), '0') + text;
}

std::string ShardPlace::path(std::string_view ending) const {
  const size_t width = std::max<size_t>(5, concat(count).size());
  return concat(folder, '/', split, '-', digits(number, width), "-of-", digits(count, width), ending);
}

}  // namespace tandem
