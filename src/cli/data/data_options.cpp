#include "cli/data/data_options.h"

#include <algorithm>

#include "base/error.h"
#include "base/number.h"
#include "base/text.h"

namespace tandem {

DataArguments::DataArguments(std::string_view verb, std::span<const DataOption> options, Arguments arguments)
    : verb_(concat("tandem data ", verb)), options_(options) {
  std::vector<std::string> paths;
  for (const std::string& argument : arguments) {
    if (!argument.starts_with("--")) {
      paths.push_back(argument);
      continue;
    }
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const bool known = std::ranges::find(options, name, &DataOption::name) != options.end();
    if (!known || equals == argument.npos) {
      std::vector<std::string> names;
      for (const DataOption& option : options) names.push_back(concat(option.name, '=', option.placeholder));
      throw UsageError(concat(verb_, known ? ": no value of '" : ": unknown option '", name, "'; options are ",
                              join(names), "; see 'tandem data --help'"));
    }
    typed_.emplace_back(name, argument.substr(equals + 1));
  }
  if (paths.size() != 1) {
    throw UsageError(concat(verb_, " needs one path, ", paths.size(), " given; see 'tandem data --help'"));
  }
  path_ = paths.front();
}

std::string DataArguments::text(std::string_view option) const {
  const auto last =
      std::find_if(typed_.rbegin(), typed_.rend(), [&](const auto& each) { return each.first == option; });
  if (last != typed_.rend()) return last->second;
  return std::string(std::ranges::find(options_, option, &DataOption::name)->standard);
}

int64_t DataArguments::number(std::string_view option, int64_t least, int64_t most) const {
  const auto number = numberIn<int64_t>(text(option));
  if (!number || *number < least || *number > most) {
    refuse(option, concat("must be a whole number from ", least, " to ", most));
  }
  return *number;
}

void DataArguments::refuse(std::string_view option, const std::string& rule) const {
  throw UsageError(concat(verb_, ": ", option, '=', text(option), ": ", rule));
}

std::string helpOf(std::span<const DataOption> options) {
  std::string help;
  for (const DataOption& option : options) {
    std::string left = concat("  ", option.name, '=', option.placeholder);
    left.resize(std::max<size_t>(left.size() + 2, 26), ' ');
    help += concat(left, option.help, " (default ", option.standard, ")\n");
  }
  return help;
}

}  // namespace tandem
