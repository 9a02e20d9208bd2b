#pragma once

#include <string>
#include <string_view>

namespace tandem {

/// The seal of a line of a results file is its last member,
///
///   ,"seal":{"previous":"<64 digits>","sha256":"<64 digits>"}}
///
/// where `sha256` is the SHA-256 of `previous` and the line as it is without the seal, and `previous` that of the line
/// before: a changed line does not fit its own number, and a line taken out, put in or moved breaks the chain. Lines of
/// versions that set no seal count as if their `previous` were zeros. It finds accidents and careless hands; who
/// computes all later seals anew is not found, unless the last number was kept elsewhere.
inline constexpr size_t sealBytes = 164;

/// `previous` of the first line.
extern const std::string noSeal;

/// A JSON object in one line, with its seal. REQUIRES: not empty, `previous` as chainOf() gives it.
std::string sealed(const std::string& object, const std::string& previous);

bool hasSeal(std::string_view line);

/// What the seal says of the line before; noSeal without one.
std::string previousOf(std::string_view line);

/// The number by which the line after names this one: of its seal, or computed where it has none.
std::string chainOf(std::string_view line);

/// Whether the line is what was sealed; true without a seal.
bool isAsSealed(std::string_view line);

}  // namespace tandem
