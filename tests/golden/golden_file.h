#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "base/text.h"
#include "support/tests_folder.h"

namespace tandem {

/// The golden numbers of a model, and with them batch and image size that suit it.
inline nlohmann::json goldenOf(const std::string& model) {
  const std::string path = concat(testsFolder(), "/golden/", model, ".json");
  std::ifstream file(path);
  if (!file.good()) throw std::runtime_error(concat(path, " is missing: run tests/golden/make_golden.py"));
  return nlohmann::json::parse(file);
}

}  // namespace tandem
