#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tandem {

/// Bytes of the character that `text` starts with; 0 where that is malformed (RFC 3629: overlong, a surrogate, above
/// U+10FFFF, cut short). REQUIRES: not empty.
size_t sequenceLength(std::string_view text);

/// Well-formed UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
bool isUtf8(std::string_view text);

/// Text of a foreign file for an error message: all but printable ASCII as \xNN, cut after 80 bytes.
std::string shown(std::string_view text);

}  // namespace tandem
