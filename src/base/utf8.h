#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tandem {

/// Number of bytes of the first character of `text`. 0 if it is malformed (RFC 3629): overlong, a surrogate, above
/// U+10FFFF, or cut short. REQUIRES: `text` is not empty.
size_t sequenceLength(std::string_view text);

/// True for well-formed UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
bool isUtf8(std::string_view text);

/// The code of one character. REQUIRES: `character` is well-formed.
uint32_t codeOf(std::string_view character);

/// Whether a character is invisible or misleads its reader: controls, directions of text (U+202E), line and paragraph
/// separators, noncharacters.
bool isHidden(uint32_t code);

/// `text` as UTF-8: a byte that belongs to no character becomes \xNN, all others stay. What is UTF-8 stays as it is.
std::string asUtf8(std::string_view text);

/// `text` as one line that does nothing to a terminal, in UTF-8. A hidden character becomes \xNN if it is ASCII, else
/// \uNNNN, above U+FFFF \UNNNNNNNN. A byte that belongs to no character becomes \xNN. What has none of them stays.
std::string withoutControls(std::string_view text);

/// Untrusted text for an error message. All but printable ASCII becomes \xNN; the text is cut after 80 bytes.
std::string escaped(std::string_view text);

}  // namespace tandem
