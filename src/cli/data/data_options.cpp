#include "cli/data/data_options.h"

#include <algorithm>

#include "base/catalog.h"
#include "base/error.h"
#include "base/number.h"
#include "base/text.h"

namespace tandem {

DataArguments::DataArguments(std::string_view verb, std::span<const CommandOption> options, Arguments arguments,
                             size_t paths)
    : command_(concat("tandem data ", verb)), options_(options), typed_(typedArguments(arguments)) {
  checkNames(typed_.options, namesOf(options), concat("option of ", command_));
  if (typed_.operands.size() != paths) {
    throw UsageError(concat(command_, " needs ", paths == 1 ? "one path, " : concat(paths, " paths, "),
                            typed_.operands.size(), " given; see 'tandem data --help'"));
  }
}

std::string DataArguments::path(size_t number) const {
  std::string path = typed_.operands.at(number);
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

std::vector<std::pair<std::string, std::string>> DataArguments::all() const {
  std::vector<std::pair<std::string, std::string>> values;
  for (const CommandOption& option : options_) values.emplace_back(option.name.substr(2), text(option.name));
  return values;
}

std::string DataArguments::text(std::string_view option) const {
  const auto typed = std::ranges::find(typed_.options, option, &TypedOption::name);
  if (typed != typed_.options.end()) return typed->value;
  return std::string(find(options_, option, "option").standard);
}

int64_t DataArguments::number(std::string_view option, int64_t least, int64_t most) const {
  if (const auto number = numberWithin(text(option), least, most)) return *number;
  refuse(option, concat("must be a whole number from ", least, " to ", most));
}

void DataArguments::refuse(std::string_view option, const std::string& rule) const {
  throw UsageError(concat(command_, ": ", option, '=', text(option), ": ", rule));
}

const DataSplitEntry& dataSplitOf(const DataArguments& arguments) {
  constexpr std::string_view option = "--data-split";
  return find(dataSplits(), arguments.text(option), option);
}

std::string helpOf(std::span<const CommandOption> options) {
  constexpr size_t leftWidth = 26;
  std::string help;
  for (const CommandOption& option : options) help += helpLine(option, leftWidth);
  return help;
}

}  // namespace tandem
