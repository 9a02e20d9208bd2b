#pragma once

#include <span>
#include <string_view>

namespace tandem {

/// A script of contrib/ that the program hands to Python.
struct PythonScript {
  std::string_view name, text;
};

std::span<const PythonScript> pythonScripts();

}  // namespace tandem
