#pragma once

#include <string>
#include <string_view>

namespace tandem {

/// Well-formed UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
bool isUtf8(std::string_view text);

/// Text of a foreign file for an error message: all but printable ASCII as \xNN, cut after 80 bytes.
std::string shown(std::string_view text);

}  // namespace tandem
