#pragma once

#include <string>
#include <string_view>

namespace tandem {

/// The seal of a line of a results file is its last member,
///   ,"seal":{"previous":"<64 digits>","sha256":"<64 digits>"}}
/// `sha256` is the SHA-256 of `previous` and the line without its seal. `previous` is the `sha256` of the line before.
/// A changed line does not match its own hash; a line removed, inserted or moved breaks the chain. Lines of versions
/// that write no seal count as if their `previous` were zeros. The chain finds accidents, not forgery: who recomputes
/// all later seals is found only if the last hash was kept elsewhere.
inline constexpr size_t sealBytes = 164;

/// `previous` of the first line.
extern const std::string noSeal;

/// A JSON object in one line, with its seal. REQUIRES: `object` is not empty; `previous` comes from chainOf().
std::string sealed(const std::string& object, const std::string& previous);

bool hasSeal(std::string_view line);

/// The line's `previous`; noSeal if it has no seal.
std::string previousOf(std::string_view line);

/// The hash by which the next line refers to this one: that of its seal, or computed if it has none.
std::string chainOf(std::string_view line);

/// Whether the line matches its seal. True without a seal.
bool isAsSealed(std::string_view line);

}  // namespace tandem
