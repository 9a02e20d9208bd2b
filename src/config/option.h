#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/text.h"
#include "config/config.h"

namespace tandem {

/// One field of a configuration.
template <class Value>
struct FieldOf {
  const Value& (*read)(const Config&);
  Value& (*change)(Config&);
};

using Field = std::variant<FieldOf<int64_t>, FieldOf<double>, FieldOf<bool>, FieldOf<std::string>>;

/// Which member of Config a group is.
template <class Group>
inline constexpr Group Config::*memberOf = nullptr;
template <>
inline constexpr Config::Network Config::*memberOf<Config::Network> = &Config::network;
template <>
inline constexpr Config::Numerics Config::*memberOf<Config::Numerics> = &Config::numerics;
template <>
inline constexpr Config::Placement Config::*memberOf<Config::Placement> = &Config::placement;
template <>
inline constexpr Config::Exchange Config::*memberOf<Config::Exchange> = &Config::exchange;
template <>
inline constexpr Config::Input Config::*memberOf<Config::Input> = &Config::input;
template <>
inline constexpr Config::Step Config::*memberOf<Config::Step> = &Config::step;
template <>
inline constexpr Config::Training Config::*memberOf<Config::Training> = &Config::training;
template <>
inline constexpr Config::Inference Config::*memberOf<Config::Inference> = &Config::inference;
template <>
inline constexpr Config::Measurement Config::*memberOf<Config::Measurement> = &Config::measurement;
template <>
inline constexpr Config::Output Config::*memberOf<Config::Output> = &Config::output;

template <class Group, class Value>
constexpr Group Config::*groupOf(Value Group::*) {
  return memberOf<Group>;
}

template <class Group, class Value>
Value valueOf(Value Group::*);

/// The field `member` of its group: field<&Config::Step::batch>.
template <auto member>
inline constexpr FieldOf<decltype(valueOf(member))> field{
    [](const Config& config) -> const auto& {return config.*groupOf(member).*member;
}  // namespace tandem
, [](Config& config) -> auto& { return config.*groupOf(member).*member; }
}
;

/// The commands that take an option, as bits. A row in records alone cannot be typed: another program was measured.
enum Commands : unsigned {
  onBench = 1,
  onPredict = 2,
  onFeatures = 4,
  onImages = onPredict | onFeatures,
  inRecordsAlone = 8,
  onTrain = 16,
  onEval = 32,
  onSteps = onBench | onTrain,  ///< those that make training steps
  onAll = onSteps | onImages | onEval,
  inRecords = onSteps | inRecordsAlone
};

struct Option;

/// Whether a training that goes on with another value has other bits.
enum class Bits {
  usual,         ///< an axis does, another option does not
  kept,          ///< it does not
  changed,       ///< it does
  byEvaluation,  ///< where the learning rate follows evaluations
  byCheckpoint   ///< where a loss that is not finite leads back to a checkpoint
};

/// What an option's value may be. Names are those of a catalog; catalogs are in other rooms, and cli passes their names
/// in as CatalogNames, so that this room depends on none of them.
enum class Values {
  any,
  names,
  namesOrFile,
  namesBySize,    ///< a name, or several with sizes between them (config/by_size.h)
  namesWithText,  ///< a name, or one with a text behind a colon
  namesOrChain    ///< a name, or several with values, joined by +; whoever has the catalog reads it
};

/// The names of each catalog, by the option that takes them.
struct CatalogNames {
  struct Row {
    std::string_view option;
    std::vector<std::string> names;
    std::string_view list = {};  ///< of 'tandem list': "models"
  };
  std::vector<Row> rows;
  /// Empty for an option that takes any value. Throws InternalError when a catalog is missing.
  std::span<const std::string> of(const Option& option) const;
};

/// Whether an option takes a list or a range, which makes it an axis of the sweep, and what its values have in common.
enum class Variation {
  none,       ///< one value for the whole sweep
  measuring,  ///< how long and in what detail the same work is measured: no fact of its rate
  way,        ///< ways of doing the same work
  rounding,   ///< ways that round otherwise: ranked together, beside their errors, where those are known (--verify)
  result,     ///< ways with other results: rates are compared on request, but never ranked together
  work,       ///< an image is other work: rates are not comparable
};

/// What becomes of the file or folder that an option's value names.
enum class FileUse {
  none,  ///< the value names none
  read,
  appended,  ///< of features: replaced
  replaced,
  filled,  ///< a folder in which files are made
};

/// A word for a value that cannot be typed: a number that is found later, or the empty text.
struct NamedValue {
  std::string_view name = {};
  int64_t value = 0;  ///< of a whole number
};

/// One option. Its row feeds the parser, --help, aliases, JSON, CSV columns, the axes of a sweep and docs/OPTIONS.md.
struct Option {
  std::string_view name;         ///< without dashes: "bucket-mib"; underscores may replace hyphens
  std::string_view group;        ///< heading in --help
  std::string_view unit;         ///< "images", "s", "MiB", or empty
  std::string_view placeholder;  ///< name of the value in --help: "N", "NAME"; empty for a flag
  std::string_view help;         ///< one sentence, without the default
  unsigned commands;
  Field field;
  Values values;
  Variation varies;
  /// Checks the field on its own; returns the text of the violation.
  std::optional<std::string> (*check)(const Config&);
  std::string_view derived = {};  ///< how the default is found if it is not a fixed value: "the model's own"
  NamedValue named = {};          ///< for a whole number or a text
  FileUse file = FileUse::none;
  unsigned mostUsedOn = 0;   ///< the commands whose --help shows it first, as bits
  bool holdsCommas = false;  ///< one value may have them
  Bits bits = Bits::usual;

  bool isAxis() const { return varies != Variation::none; }
};

/// Another option that must be typed with a value.
struct Typed {
  std::string_view name = {}, value = {};
};

/// A name or value that users of other programs know. `name` may be an option's alias ("num-gpus" -> "replicas"). With
/// `value` it concerns only that value, in any letter case ("fake-location=gpu" -> "input=device"); then `name` may
/// also be an option. At most one of `option` and `refusal` is set. A refusal is the error text for a value that this
/// build lacks; it is ignored if a catalog has the value. With neither, the value asks for nothing here, and `note`
/// says why.
struct Alias {
  std::string_view name, value;
  std::string_view option, optionValue;
  std::string_view refusal;
  std::string_view note;          ///< printed when the alias is used
  std::string_view devices = {};  ///< "cuda:" makes the indices "0,1" one set of devices, "cuda:0+1"
  Typed with = {};                ///< the row counts only beside this
};

/// Whether the option's values are of this type: int64_t, double, bool (a flag) or std::string.
template <class Value>
bool takes(const Option& option) {
  return std::holds_alternative<FieldOf<Value>>(option.field);
}

std::span<const Option> options();
std::span<const Alias> aliases();

/// Text of the default in --help and docs/OPTIONS.md.
std::string defaultText(const Option& option);

/// The option called `name`, with hyphens. Null if there is none.
const Option* findOption(std::string_view name);

/// The valid values of an option with a catalog: the catalog's names, and the default if it is a word of its own
/// ("auto"). Empty for other options. Throws InternalError if `names` lacks the catalog.
std::vector<std::string> validValues(const Option&, const CatalogNames& names);

/// "a, b, c": the valid values of an option with a catalog. Of a long catalog the command that lists them. Empty for
/// other options.
std::string validValuesText(const Option&, const CatalogNames& names);

/// Whether a value is a path although the option has a catalog: a network file for --model.
bool isFile(const Option&, std::string_view value);

/// The name of the field's value if it is the option's named value, else empty.
std::string_view nameOfValue(const Config&, const Option&);

/// Sets a field to the option's named value. False if `text` is not its name.
bool setNamedValue(Config&, const Option&, std::string_view text);

/// The text of a field's value as a user would type it. Numbers have their shortest form, flags are "true"/"false".
std::string valueText(const Config&, const Option&);

/// Sets a field from typed text. Throws UsageError that names the option, the value and the rule.
void setValue(Config&, const Option&, std::string_view text, const CatalogNames&);

/// Checks rules between the values of several options, such as --trace without --profile. Rules on the abilities of a
/// catalog's row are in run/plan/rules.h. Throws UsageError.
void checkCombination(const Config&);

/// The option by which nothing is trained, for messages. REQUIRES: forwardOnly.
inline std::string_view optionWithoutTraining(const Config::Step& step) {
  return step.loaderOnly ? "--loader-only" : "--forward-only";
}

/// Whether images are mixed in pairs, and the option by which they are, for messages.
inline bool mixes(const Config::Step& step) { return step.mixup > 0 || step.cutmix > 0; }
inline std::string mixingText(const Config::Step& step) {
  return step.mixup > 0 ? concat("--mixup=", step.mixup) : concat("--cutmix=", step.cutmix);
}

/// "--ema=0.99": how weights are averaged over the updates; empty: they are not.
inline std::string averageText(const Config::Step& step) {
  if (step.lookahead > 0) return concat("--lookahead=", step.lookahead);
  return step.ema > 0 ? concat("--ema=", step.ema) : "";
}

/// Of this number of images a replica has a multiple: its parts are equal, and have whole pairs where images are mixed.
inline int64_t imagesTogether(const Config::Step& step) { return step.accumulate * (mixes(step) ? 2 : 1); }

}  // namespace tandem
