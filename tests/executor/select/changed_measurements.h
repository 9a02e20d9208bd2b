#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "base/text.h"

namespace tandem {

/// Gives each measurement of a TimingCache's file the numbers that `numbersOf` says of its line; where it says none
/// the line goes.
inline void changeMeasurements(const std::filesystem::path& file,
                               const std::function<std::string(const std::string& line)>& numbersOf) {
  std::string text;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::string numbers = numbersOf(line);
    if (!numbers.empty()) text += concat(line.substr(0, line.find('\t')), '\t', numbers, '\n');
  }
  std::ofstream(file) << text;
}

}  // namespace tandem
