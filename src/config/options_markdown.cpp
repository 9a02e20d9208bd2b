#include <algorithm>

#include "base/text.h"
#include "config/command_line.h"
#include "config/commands.h"

namespace tandem {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string code(std::string_view text) { return text.empty() ? "" : concat("`", escaped(text), "`"); }

std::string valuesCell(const Option& option, const CatalogNames& names) {
  std::vector<std::string> values;
  for (const std::string& value : validValues(option, names)) values.push_back(code(value));
  return values.empty() ? code(option.placeholder) : join(values);
}

/// The commands that take the option.
std::string commandsCell(const Option& option) {
  std::vector<std::string> names;
  for (const CommandEntry& command : commandsWithOptions()) {
    if ((option.commands & command.bit) != 0) names.emplace_back(command.name);
  }
  return join(names);
}

std::string optionLine(const Option& option, const CatalogNames& names) {
  const std::string standard = defaultText(option);
  return concat("| ", code(concat("--", option.name)), " | ", valuesCell(option, names), " | ", code(standard), " | ",
                option.unit, " | ", commandsCell(option), " | ", option.isAxis() ? "yes" : "no", " | ",
                escaped(option.help), " |\n");
}

std::string_view groupOf(const Alias& alias) {
  const Option* option = findOption(alias.option.empty() ? alias.name : alias.option);
  return option != nullptr ? option->group : std::string_view();
}

/// What the alias stands for: "`--devices=cuda:0+1`", "refused", "passed over".
std::string targetOf(const Alias& alias) {
  if (!alias.refusal.empty()) return "refused";
  if (alias.option.empty()) return "passed over";
  if (!alias.devices.empty()) return code(concat("--", alias.option, "=", alias.devices, "0+1"));
  return code(concat("--", alias.option, alias.optionValue.empty() ? "" : "=", alias.optionValue));
}

std::string meaning(const Alias& alias) {
  const Typed& with = alias.with;
  const std::string beside =
      with.name.empty() ? "" : concat(" beside ", code(concat("--", with.name, "=", with.value)));
  const std::string_view more = alias.refusal.empty() ? alias.note : alias.refusal;
  const std::string_view colon = alias.option.empty() ? ": " : "; ";
  return concat(targetOf(alias), beside, more.empty() ? "" : colon, escaped(more));
}

std::string aliasTable(std::string_view group) {
  std::string lines;
  for (const Alias& alias : aliases()) {
    if (groupOf(alias) != group) continue;
    const std::string typed = concat("--", alias.name, alias.value.empty() ? "" : "=", alias.value);
    lines += concat("| ", code(typed), " | ", meaning(alias), " |\n");
  }
  return lines.empty() ? lines : "\n| also accepted | means |\n| --- | --- |\n" + lines;
}

std::vector<std::string_view> groups() {
  std::vector<std::string_view> found;
  for (const Option& option : options()) {
    if (found.empty() || found.back() != option.group) found.push_back(option.group);
  }
  return found;
}

}  // namespace

std::string optionsMarkdown(const CatalogNames& names) {
  std::string text =
      "# Options\n\nGenerated from the option table (`src/config/table`, `src/config/aliases.cpp`); do not edit.\n"
      "Hyphens and underscores are equal. In `bench` an option with *list* \"yes\" takes `a,b,c`, and a number also a "
      "range: "
      "`1-8*2` is 1,2,4,8 and `1-3+1` is 1,2,3.\n";
  for (const std::string_view group : groups()) {
    text += concat("\n## ", group, "\n\n| option | values | default | unit | commands | list | what it does |\n",
                   "| --- | --- | --- | --- | --- | --- | --- |\n");
    for (const Option& option : options()) {
      if (option.group == group && option.commands != inRecordsAlone) text += optionLine(option, names);
    }
    text += aliasTable(group);
  }
  const std::string rest = aliasTable("");
  return rest.empty() ? text : concat(text, "\n## Options of other programs\n", rest);
}

}  // namespace tandem
