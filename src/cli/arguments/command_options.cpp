#include "cli/arguments/command_options.h"

#include <algorithm>

#include "base/catalog.h"
#include "base/error.h"
#include "base/text.h"

namespace tandem {

TypedArguments typedArguments(Arguments arguments) {
  TypedArguments typed;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& text = arguments[i];
    if (!text.starts_with("--")) {
      typed.operands.push_back(text);
      continue;
    }
    const size_t equals = text.find('=');
    TypedOption option{text.substr(0, equals), ""};
    std::ranges::replace(option.name, '_', '-');
    if (equals != std::string::npos) {
      option.value = text.substr(equals + 1);
    } else if (i + 1 < arguments.size() && !arguments[i + 1].starts_with("--")) {
      option.value = arguments[++i];
    }
    if (option.value.empty()) throw UsageError(concat(option.name, " needs a value"));
    typed.options.push_back(std::move(option));
  }
  return typed;
}

void checkNames(std::span<const TypedOption> typed, std::span<const std::string> valid, std::string_view kind) {
  std::vector<std::string> seen;
  for (const TypedOption& option : typed) {
    if (std::ranges::find(valid, option.name) == valid.end()) {
      throw UsageError(unknownName(kind, option.name, valid));
    }
    if (std::ranges::find(seen, option.name) != seen.end()) throw UsageError(concat(option.name, " is given twice"));
    seen.push_back(option.name);
  }
}

std::string helpLine(const CommandOption& option, size_t leftWidth) {
  std::string left = concat("  ", option.name, '=', option.placeholder);
  left.resize(std::max(leftWidth, left.size() + 2), ' ');
  return concat(left, option.help, option.standard.empty() ? "" : concat(" (default ", option.standard, ")"), '\n');
}

}  // namespace tandem
