#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace tandem {

using TarBytes = std::vector<uint8_t>;

/// A ustar header and the file's bytes, filled up to blocks of 512.
inline TarBytes tarFile(const std::string& name, const std::string& content, char type = '0') {
  TarBytes block(512);
  const auto put = [&](size_t at, const std::string& text) {
    std::ranges::copy(text, block.begin() + static_cast<int64_t>(at));
  };
  const auto octal = [](uint64_t value, int digits) {
    char text[32];
    std::snprintf(text, sizeof text, "%0*lo", digits, static_cast<unsigned long>(value));
    return std::string(text);
  };
  put(0, name.substr(0, 100)), put(100, octal(0644, 7)), put(124, octal(content.size(), 11)), put(136, octal(0, 11));
  put(148, "        "), block[156] = static_cast<uint8_t>(type),
                        put(257, std::string("ustar\0"
                                             "00",
                                             8));
  put(148, octal(std::accumulate(block.begin(), block.end(), uint64_t{0}), 6) + '\0' + ' ');
  block.insert(block.end(), content.begin(), content.end());
  block.resize((block.size() + 511) / 512 * 512);
  return block;
}

/// Files in their order, then two blocks of zeros.
inline TarBytes tarOf(const std::vector<std::pair<std::string, std::string>>& files) {
  TarBytes all;
  for (const auto& [name, content] : files) {
    const TarBytes one = tarFile(name, content);
    all.insert(all.end(), one.begin(), one.end());
  }
  all.resize(all.size() + 1024);
  return all;
}

}  // namespace tandem
