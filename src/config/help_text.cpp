#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"
#include "config/command_line.h"
#include "config/commands.h"

namespace tandem {
namespace {

constexpr size_t width = 120, leftWidth = 28;

constexpr std::array<std::pair<ExitCode, std::string_view>, 10> exitCodes{{
    {ExitCode::ok, "everything asked for was done"},
    {ExitCode::usage, "a wrong option, value or combination"},
    {ExitCode::data, "a data file that is missing or broken"},
    {ExitCode::checkpoint, "a weights file that is damaged or does not fit the network"},
    {ExitCode::peer, "a replica failed because another one did"},
    {ExitCode::numeric, "a loss or weight is no finite number"},
    {ExitCode::storage, "the results file cannot be written"},
    {ExitCode::invalidMeasurement, "a measurement that must not be reported"},
    {ExitCode::internal, "an error of the program itself"},
    {ExitCode::interrupted, "interrupted; finished rows are kept"},
}};

/// Breaks `text` at spaces into lines that start at column `indent`. `begun` starts the first line.
std::string wrapped(const std::string& begun, const std::string& text, size_t indent) {
  std::string lines, line = begun;
  bool fresh = true;
  for (const std::string& word : split(text, " ")) {
    if (!fresh && line.size() + 1 + word.size() > width) {
      lines += line + "\n";
      line = std::string(indent, ' ');
      fresh = true;
    }
    line += (fresh ? "" : " ") + word;
    fresh = false;
  }
  return lines + line + "\n";
}

std::string row(std::string left, const std::string& text) {
  left.resize(std::max(leftWidth, left.size() + 2), ' ');
  return wrapped(left, text, leftWidth);
}

/// "(images, default 16)", "(default off)".
std::string defaultNote(const Option& option) {
  if (takes<bool>(option)) return "(default off)";
  const std::string value = defaultText(option);
  if (value.empty()) return "(default none)";
  return concat("(", option.unit, option.unit.empty() ? "" : ", ", "default ", value, ")");
}

std::string optionRow(const Option& option, const CatalogNames& names) {
  const std::string left = concat("  --", option.name, option.placeholder.empty() ? "" : "=", option.placeholder);
  const std::string valid = validValuesText(option, names);
  const std::string values = valid.empty() ? "" : concat(": ", valid);
  return row(left, concat(option.help, values, " ", defaultNote(option)));
}

std::string mostUsed(const CommandEntry& command, const CatalogNames& names) {
  std::string text;
  for (const Option& option : options()) {
    if ((option.mostUsedOn & command.bit) != 0) text += optionRow(option, names);
  }
  return text;
}

/// The other options, below the headings of their groups.
std::string optionGroups(const CommandEntry& command, const CatalogNames& names) {
  std::string text;
  std::string_view group;
  for (const Option& option : options()) {
    if ((option.commands & ~option.mostUsedOn & command.bit) == 0) continue;
    if (option.group != group) text += concat("\n", option.group, ":\n");
    group = option.group;
    text += optionRow(option, names);
  }
  return text;
}

std::string oneValueOptions(const CommandEntry& command) {
  std::vector<std::string> single;
  for (const Option& option : options()) {
    if ((option.commands & command.bit) != 0 && !option.isAxis()) single.push_back(concat("--", option.name));
  }
  return join(single);
}

/// "--num-gpus (--replicas)": names that users of other programs know.
std::string otherNames(const CommandEntry& command) {
  std::vector<std::string> names;
  for (const Alias& alias : aliases()) {
    const Option* option = alias.value.empty() ? findOption(alias.option) : nullptr;
    if (option != nullptr && (option->commands & command.bit) != 0)
      names.push_back(concat("--", alias.name, " (--", alias.option, ")"));
  }
  return join(names);
}

}  // namespace

std::string helpText(std::string_view name, const CatalogNames& names) {
  const CommandEntry& command = commandCalled(name);
  const std::string_view gap = command.operands.empty() ? "" : " ";
  std::string text = concat("Usage: tandem ", name, " [--OPTION=VALUE ...]", gap, command.operands, "\n\n");
  text += wrapped("", std::string(command.summary), 0);
  text += "\nExamples:\n";
  for (const std::string_view example : command.examples) text += concat("  ", example, "\n");
  text += concat("\nMost used:\n", mostUsed(command, names), "\n");
  if (command.sweeps) {
    text += row("Lists:", concat("every option takes a list a,b,c, and a number a range as 1-8*2 (1,2,4,8) or 1-3+1 "
                                 "(1,2,3); the run is then the cross product. One value only: ",
                                 oneValueOptions(command)));
  }
  text += row("Names:", "hyphens and underscores are equal; flags are --name, or --name=true,false in a list");
  text += row("Also known:", otherNames(command));
  text += optionGroups(command, names);
  text += "\nOther:\n" + row("  --help", "this text");
  text += "\nExit codes:\n";
  for (const auto& [code, meaning] : exitCodes) {
    text += row(concat("  ", static_cast<int>(code), " ", nameOf(code)), std::string(meaning));
  }
  return text;
}

}  // namespace tandem
