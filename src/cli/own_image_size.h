#pragma once

#include <cstdint>
#include <string>

namespace tandem {

/// The image size of a row of the zoo; 0 for anything else.
int64_t ownImageSize(const std::string& model);

}  // namespace tandem
