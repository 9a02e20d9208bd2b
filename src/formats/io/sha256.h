#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace tandem {

/// SHA-256 of the bytes as 64 hexadecimal digits, as sha256sum prints it.
std::string sha256Of(std::span<const uint8_t> bytes);

}  // namespace tandem
