#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tandem {

/// Number of bytes of the first character of `text`. 0 if it is malformed (RFC 3629): overlong, a surrogate, above
/// U+10FFFF, or cut short. REQUIRES: `text` is not empty.
size_t sequenceLength(std::string_view text);

/// True for well-formed UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
bool isUtf8(std::string_view text);

/// Untrusted text for an error message. All but printable ASCII becomes \xNN; the text is cut after 80 bytes.
std::string escaped(std::string_view text);

}  // namespace tandem
