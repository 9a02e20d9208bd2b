#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tandem {

/// Untrusted text as well-formed UTF-8. Control characters and bidirectional overrides become their code, [U+202E].
/// Bytes that are not UTF-8 become U+FFFD. A text above 1000 characters is cut, with a note on its length.
std::string visibleText(std::string_view text);

/// visibleText(), escaped for HTML, both as content of an element and as a quoted value.
std::string htmlText(std::string_view text);

/// JSON for a script element: the same value without <, > and &.
std::string scriptJson(std::string_view json);

/// Base64 (RFC 4648).
std::string base64(std::span<const uint8_t> bytes);

/// "sha256-...": the hash of an inline script or style in a Content-Security-Policy.
std::string integrityOf(std::string_view text);

}  // namespace tandem
