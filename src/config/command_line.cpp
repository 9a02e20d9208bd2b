#include "config/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <functional>

#include "base/error.h"
#include "base/text.h"
#include "config/commands.h"
#include "config/parsed_option.h"

namespace tandem {
namespace {

std::string seeHelp(std::string_view command) { return concat("see 'tandem ", command, " --help'"); }

/// The name in "--name"; empty for other texts.
std::string_view nameIn(std::string_view argument) { return argument.starts_with("--") ? argument.substr(2) : ""; }

/// Replaces underscores in the name by hyphens. Throws UsageError for an empty value, "--name=", which CLI11 would read
/// as something else.
std::string normalised(const std::string& argument) {
  if (!argument.starts_with("--")) return argument;
  const size_t end = std::min(argument.find('='), argument.size());
  std::string name = argument.substr(0, end);
  std::replace(name.begin(), name.end(), '_', '-');
  if (end + 1 == argument.size()) throw UsageError(concat(name, "= needs a value"));
  return name + argument.substr(end);
}

bool isTrueOrFalse(const std::string& text) { return lowered(text) == "true" || lowered(text) == "false"; }

/// The normalised arguments. Flags of other programs have forms of their own: "--noname" is "--name=false", and
/// "--name false" too.
std::vector<std::string> withFlagsWritten(std::span<const std::string> arguments) {
  constexpr std::string_view no = "--no";
  std::vector<std::string> written;
  for (const std::string& each : arguments) {
    const std::string argument = normalised(each);
    const bool negated = argument.starts_with(no) && !isFlag(argument.substr(2)) && isFlag(argument.substr(no.size()));
    if (negated) {
      written.push_back(concat("--", argument.substr(no.size()), "=false"));
    } else if (isTrueOrFalse(argument) && !written.empty() && isFlag(nameIn(written.back()))) {
      written.back() += concat("=", argument);
    } else {
      written.push_back(argument);
    }
  }
  return written;
}

/// "there is 'tandem features --out'; ": the other commands that have an option of this name. Empty if none has.
std::string elsewhere(const std::string& name) {
  if (!leadsToOption(name)) return "";
  std::vector<std::string> found;
  for (const CommandEntry& command : commandsWithOptions()) {
    const auto names = typableNames(command.bit);
    if (std::ranges::find(names, name) != names.end())
      found.push_back(concat("'tandem ", command.name, " --", name, "'"));
  }
  return found.empty() ? "" : concat("there is ", join(found, " and "), "; ");
}

[[noreturn]] void refuseExtra(const std::string& extra, std::string_view command, std::vector<std::string> names) {
  if (!extra.starts_with("-")) {
    throw UsageError(concat("unexpected argument '", extra, "'; options are written --name=value; ", seeHelp(command)));
  }
  const std::string name = extra.substr(0, extra.find('='));
  const std::string plain = name.substr(std::min(name.find_first_not_of('-'), name.size()));
  std::string hint = elsewhere(plain);
  std::erase_if(names, std::not_fn(leadsToOption));
  const std::string near = hint.empty() ? nearest(plain, names) : "";
  if (!near.empty()) hint = concat("did you mean '--", near, "'? ");
  throw UsageError(concat("unknown option '", name, "'; ", hint, seeHelp(command)));
}

TypedOption typedOnce(const CLI::Option& option) {
  const std::string& name = option.get_lnames().front();
  if (option.results().size() > 1) throw UsageError(concat("--", name, " is given twice"));
  const std::string& value = option.results().front();
  if (value.empty() || value.starts_with("--")) throw UsageError(concat("--", name, " needs a value"));
  return {name, value};
}

/// Arguments that are not options, such as files, for commands that take them.
std::vector<std::string> operandsOf(const CLI::App& app, const CommandEntry& command,
                                    const std::vector<std::string>& names) {
  std::vector<std::string> rest = app.remaining();
  const auto isOption = [](const std::string& text) { return text.starts_with("-"); };
  const auto refused = command.operands.empty() ? rest.begin() : std::ranges::find_if(rest, isOption);
  if (refused != rest.end()) refuseExtra(*refused, command.name, names);
  return rest;
}

std::vector<TypedOption> tokenise(const CommandEntry& command, std::span<const std::string> arguments,
                                  std::vector<std::string>& operands) {
  const auto names = typableNames(command.bit);
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  for (const std::string& name : names) {
    CLI::Option* option = isFlag(name) ? app.add_flag("--" + name) : app.add_option("--" + name);
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  std::vector<std::string> reversed = withFlagsWritten(arguments);
  std::ranges::reverse(reversed);
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError&) {
    throw UsageError(concat(arguments.back(), " needs a value; ", seeHelp(command.name)));
  }
  operands = operandsOf(app, command, names);
  std::vector<TypedOption> typed;
  for (const CLI::Option* option : app.parse_order()) typed.push_back(typedOnce(*option));
  return typed;
}

/// Sets a value that is part of what was typed. An error says what was typed, if the value does not stand there.
void setPart(Config& config, const Option& option, const std::string& value, const TypedOption& typed,
             const CatalogNames& names) {
  try {
    setValue(config, option, value, names);
  } catch (const UsageError& refused) {
    const auto items = split(typed.value, ",");
    if (std::ranges::find(items, value) != items.end()) throw;
    throw UsageError(concat(refused.what(), "; typed was --", typed.name, "=", typed.value));
  }
}

/// The values in the option's standard text ("0.10" is 0.1). Each is checked on its own.
std::vector<std::string> checkedValues(const Option& option, std::span<const std::string> texts,
                                       const TypedOption& typed, const CatalogNames& names) {
  std::vector<std::string> values;
  for (const std::string& text : texts) {
    Config config;
    setPart(config, option, text, typed, names);
    const std::string value = valueText(config, option);
    if (std::ranges::find(values, value) != values.end()) {
      throw UsageError(concat("--", option.name, " lists ", value, " twice"));
    }
    values.push_back(value);
  }
  return values;
}

void add(Sweep& sweep, const TypedOption& typed, const CatalogNames& names, std::span<const TypedOption> line) {
  const ResolvedOption resolved = resolve(typed, names, line);
  for (const std::string& note : resolved.notes) {
    if (std::ranges::find(sweep.notes, note) == sweep.notes.end()) sweep.notes.push_back(note);
  }
  if (resolved.option == nullptr) return;
  const std::string name(resolved.option->name);
  if (sweep.has(name)) {
    throw UsageError(concat("--", name, " is given twice (the second time as --", typed.name, ")"));
  }
  sweep.given.push_back(name);
  auto values = checkedValues(*resolved.option, resolved.values, typed, names);
  setValue(sweep.base, *resolved.option, values.front(), names);
  if (values.size() > 1) sweep.axes.push_back({resolved.option, std::move(values)});
}

std::string shellQuoted(const std::string& text) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=+,@%-";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

Sweep parseArguments(std::string_view command, std::span<const std::string> arguments, const CatalogNames& names) {
  Sweep sweep;
  const auto line = tokenise(commandCalled(command), arguments, sweep.operands);
  for (const TypedOption& typed : line) add(sweep, typed, names, line);
  return sweep;
}

std::string commandLine(std::string_view command, std::span<const Config* const> configs) {
  std::string line = concat("tandem ", command);
  for (const Option& option : options()) {
    if ((option.commands & commandCalled(command).bit) == 0) continue;
    std::vector<std::string> values;
    for (const Config* config : configs) {
      const std::string value = valueText(*config, option);
      if (std::ranges::find(values, value) == values.end()) values.push_back(value);
    }
    const std::string list = join(values, ",");
    const bool isNoSweep = values.size() > 1 && !option.isAxis();
    if (isNoSweep || list == valueText(Config(), option)) continue;
    const bool bareFlag = takes<bool>(option) && list == "true";
    line += concat(" --", option.name, bareFlag ? "" : "=", bareFlag ? "" : shellQuoted(list));
  }
  return line;
}

std::string commandLine(std::string_view command, const Config& config) {
  return commandLine(command, std::array{&config});
}

}  // namespace tandem
