#include "machine/gpu/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace tandem {
namespace {

constexpr std::string_view mangled = "_Z", returned = "void ", unnamed = "(anonymous namespace)";

/// Position of the parameter list: the first bracket outside template arguments.
size_t parametersAt(const std::string& text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<') ++depth;
    if (text[i] == '>') --depth;
    if (text[i] != '(' || depth > 0) continue;
    if (text.compare(i, unnamed.size(), unnamed) != 0) return i;
    i += unnamed.size() - 1;
  }
  return text.size();
}

}  // namespace

std::string kernelName(const std::string& symbol) {
  if (!symbol.starts_with(mangled)) return symbol;  // otherwise "f" would demangle to float
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  if (demangled == nullptr || status != 0) return symbol;
  const std::string text(demangled.get());
  const size_t begin = text.starts_with(returned) ? returned.size() : 0;
  const std::string name = text.substr(begin);
  return name.substr(0, parametersAt(name));
}

}  // namespace tandem
