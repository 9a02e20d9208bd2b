#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tandem {

/// The bytes of a text, which must outlive them.
inline std::span<const uint8_t> asBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

}  // namespace tandem
