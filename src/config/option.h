#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/config.h"

namespace tandem {

using Field = std::variant<int64_t Config::*, double Config::*, bool Config::*, std::string Config::*>;

/// Commands that take an option, as bits.
enum Commands : unsigned { onBench = 1, onPredict = 2, onFeatures = 4, onImages = onPredict | onFeatures };

/// Which catalog an option's values come from. The names themselves live in the catalogs of other folders and are
/// handed in by cli (CatalogNames), so that config/ depends on none of them.
enum class Choices {
  any,
  models,
  strategies,
  executors,
  recomputes,
  cudaGraphs,
  overlaps,
  precisions,
  inputs,
  allReduces,
  layouts,
  convolutions,
  imagePaddings,
  scalings,
  augments,
  schedules,
  optimizers,
  formats,
  lossPlacements,
  weightsMaps,
  normalizations,
  badImages,
  scores
};

/// Valid names of each catalog, by Choices. `any` is empty.
struct CatalogNames {
  std::vector<std::pair<Choices, std::vector<std::string>>> rows;
  std::span<const std::string> of(Choices choices) const;
};

/// A word that may be typed for a number that may not: it stands for what is found later.
struct NamedValue {
  std::string_view name = {};
  int64_t value = 0;
};

/// One option: this row feeds the parser, --help, aliases, JSON, CSV columns, the sweep axis and docs/OPTIONS.md.
struct Option {
  std::string_view name;         ///< without dashes, e.g. "bucket-mib"; underscores are accepted for hyphens
  std::string_view group;        ///< heading in --help
  std::string_view unit;         ///< "images", "s", "MiB", or empty
  std::string_view placeholder;  ///< what stands for the value in --help: "N", "NAME"; empty for a flag
  std::string_view help;         ///< one sentence, without the default
  unsigned commands;
  Field field;
  Choices choices;
  bool axis;  ///< may be given a list or a range, and is then an axis of the sweep
  std::optional<std::string> (*check)(const Config&);  ///< rule on the field's own value; the text of the breach
  std::string_view derived = {};  ///< how the default is found where it is no fixed value, e.g. "the model's own"
  NamedValue named = {};          ///< of a whole number
};

/// A name or value that users of other programs know. `name` may be an option's alias ("num-gpus" -> "replicas"); with
/// `value` set it maps only that value, in any case ("fake-location=gpu" -> "input=device"; `name` may then be an
/// option itself). Either `option` or `refusal` is set; the latter: not built, says so, unless this build's catalog has
/// the value.
struct Alias {
  std::string_view name, value;
  std::string_view option, optionValue;
  std::string_view refusal;
  std::string_view note;  ///< printed when used, e.g. that a compiled graph is a plan here
};

std::span<const Option> options();
std::span<const Alias> aliases();

/// The default as --help and docs/OPTIONS.md show it.
std::string defaultText(const Option& option);

/// The option called `name` (with hyphens), or null.
const Option* findOption(std::string_view name);

/// What may be typed for an option whose values come from a catalog: the catalog's names, and the default where it is a
/// word of its own ("auto"). Empty for other options. Throws InternalError when `names` lacks the catalog.
std::vector<std::string> validValues(const Option&, const CatalogNames& names);

/// Whether a value is a path although the option has a catalog: a network file given to --model.
bool isFile(const Option&, std::string_view value);

/// The option's named value when the field has it, else empty.
std::string_view nameOfValue(const Config&, const Option&);

/// Sets a field to the option's named value. False when `text` is not its name.
bool setNamedValue(Config&, const Option&, std::string_view text);

/// The text of a field's value as it would be typed. Numbers in shortest form, flags as "true"/"false".
std::string valueText(const Config&, const Option&);

/// Sets a field from typed text. Throws UsageError naming the option, the value and the rule.
void setValue(Config&, const Option&, std::string_view text, const CatalogNames&);

/// Rules that join the values of several options, as --trace without --profile. Those that depend on what a catalog's
/// row can do are in run/plan/rules.h. Throws UsageError.
void checkCombination(const Config&);

}  // namespace tandem
