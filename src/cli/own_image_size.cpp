#include "cli/own_image_size.h"

#include <algorithm>

#include "models/model.h"

namespace tandem {

int64_t ownImageSize(const std::string& model) {
  const auto row = std::ranges::find(models(), model, &ModelEntry::name);
  return row == models().end() ? 0 : row->input.height;
}

}  // namespace tandem
