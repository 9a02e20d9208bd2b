#include "measure/record/hash_chain.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"
#include "formats/io/checksum.h"

namespace tandem {
namespace {

constexpr size_t digits = 64;
constexpr std::string_view first = R"(,"seal":{"previous":")", between = R"(","sha256":")", last = R"("}})";
static_assert(first.size() + digits + between.size() + digits + last.size() == sealBytes);

std::string sha256(std::string_view previous, std::string_view object) {
  const std::string text = concat(previous, object);
  return sha256Of(asBytes(text));
}

bool isHexadecimal(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string_view sealOf(std::string_view line) { return line.substr(line.size() - sealBytes); }

std::string_view ownOf(std::string_view line) {
  return sealOf(line).substr(first.size() + digits + between.size(), digits);
}

std::string objectOf(std::string_view line) {
  return hasSeal(line) ? std::string(line.substr(0, line.size() - sealBytes)) + '}' : std::string(line);
}

}  // namespace

const std::string noSeal(digits, '0');

std::string sealed(const std::string& object, const std::string& previous) {
  check(object.size() > 2 && object.back() == '}' && previous.size() == digits, "sealed: an object with a member");
  return concat(std::string_view(object).substr(0, object.size() - 1), first, previous, between,
                sha256(previous, object), last);
}

bool hasSeal(std::string_view line) {
  if (line.size() <= sealBytes) return false;
  const std::string_view seal = sealOf(line);
  return seal.starts_with(first) && seal.substr(first.size() + digits).starts_with(between) && seal.ends_with(last) &&
         isHexadecimal(seal.substr(first.size(), digits)) && isHexadecimal(ownOf(line));
}

std::string previousOf(std::string_view line) {
  return hasSeal(line) ? std::string(sealOf(line).substr(first.size(), digits)) : noSeal;
}

std::string chainOf(std::string_view line) { return hasSeal(line) ? std::string(ownOf(line)) : sha256(noSeal, line); }

bool isAsSealed(std::string_view line) {
  return !hasSeal(line) || sha256(previousOf(line), objectOf(line)) == ownOf(line);
}

}  // namespace tandem
