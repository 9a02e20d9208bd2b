#include "base/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>

#include "base/number.h"

namespace tandem {
namespace {

/// Edit distance in which a swap of neighbours is one edit (optimal string alignment).
size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({replaced, cost[i - 1][j] + 1, cost[i][j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

std::string withoutTrailingZeros(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

int decimalsForThreeDigits(double value) { return value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2; }

}  // namespace

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string joined;
  for (const std::string& part : parts) {
    if (&part != parts.data()) joined += separator;
    joined += part;
  }
  return joined;
}

std::vector<std::string> split(std::string_view text, std::string_view separators) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end = 0; end != std::string_view::npos; begin = end + 1) {
    end = text.find_first_of(separators, begin);
    parts.emplace_back(text.substr(begin, end == std::string_view::npos ? end : end - begin));
  }
  return parts;
}

std::string lowered(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

std::string firstLine(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

std::string nearest(std::string_view given, std::span<const std::string> candidates) {
  const std::string wanted = lowered(given);
  std::string best;
  size_t bestDistance = 0;
  for (const std::string& candidate : candidates) {
    const size_t distance = editDistance(wanted, lowered(candidate));
    const bool nearEnough = 3 * distance <= std::max(wanted.size(), candidate.size()) + 1;
    if (nearEnough && (best.empty() || distance < bestDistance)) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

std::string fixed(double value, int decimals) {
  std::array<char, 512> buffer;
  const int length = std::snprintf(buffer.data(), buffer.size(), "%.*f", decimals, value);
  const std::string text(buffer.data(), std::min<size_t>(length, buffer.size() - 1));
  const bool negativeZero = text.front() == '-' && text.find_first_not_of("-0.") == std::string::npos;
  return negativeZero ? text.substr(1) : text;
}

std::string scientific(double value) {
  std::array<char, 32> buffer{};
  const int length = std::snprintf(buffer.data(), buffer.size(), "%.1e", value);
  return {buffer.data(), static_cast<size_t>(length)};
}

std::string bytesText(double bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  while (std::abs(bytes) >= 1023.95 && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  return concat(withoutTrailingZeros(fixed(bytes, 1)), " ", units[unit]);
}

std::string secondsText(double seconds) {
  constexpr std::array units{"s", "ms", "us", "ns"};
  size_t unit = 0;
  while (seconds != 0 && std::abs(seconds) < 0.9995 && unit + 1 < units.size()) {
    seconds *= 1000;
    ++unit;
  }
  const int decimals = decimalsForThreeDigits(std::abs(seconds));
  return concat(withoutTrailingZeros(fixed(seconds, decimals)), " ", units[unit]);
}

std::optional<int64_t> bytesIn(std::string_view text, std::string_view suffixes, int64_t most) {
  const size_t suffix = text.empty() ? text.npos : suffixes.find(lowered(text.substr(text.size() - 1)));
  const bool plain = suffix == std::string_view::npos;
  const int64_t unit = plain ? 1 : int64_t{1} << (10 * (suffix + 1));
  const auto number = numberWithin(text.substr(0, text.size() - (plain ? 0 : 1)), 1, most / unit);
  return number ? std::optional(*number * unit) : std::nullopt;
}

}  // namespace tandem
