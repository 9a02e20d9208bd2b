#include "config/value_list.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "base/error.h"
#include "base/text.h"

namespace tandem {
namespace {

constexpr size_t longestRange = 1000;
constexpr const char* endsBelow = "a range must not end below its start";

template <class Number>
struct Range {
  Number first, last, change;
  char operation;
};

/// Removes an unsigned number from the front of `text` and returns it.
template <class Number>
std::optional<Number> takeNumber(std::string_view& text) {
  Number value{};
  if (text.empty() || (text.front() != '.' && (text.front() < '0' || text.front() > '9'))) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

bool takeOneOf(std::string_view& text, std::string_view characters) {
  if (text.empty() || characters.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

[[noreturn]] void refuse(const TypedOption& typed, std::string_view text, const char* rule) {
  throw UsageError(concat("--", typed.name, "=", text, ": ", rule));
}

/// Empty if `text` is not a range.
template <class Number>
std::optional<Range<Number>> parseRange(const TypedOption& typed, std::string_view text) {
  std::string_view rest = text;
  const auto first = takeNumber<Number>(rest);
  if (!first || !takeOneOf(rest, "-")) return std::nullopt;
  const auto last = takeNumber<Number>(rest);
  if (!last) return std::nullopt;
  if (rest.empty() && *last < *first) refuse(typed, text, endsBelow);
  if (rest.empty()) refuse(typed, text, "a range needs a factor or a step, as 1-8*2 or 1-8+1");
  const char operation = rest.front();
  if (!takeOneOf(rest, "*+")) return std::nullopt;
  const auto change = takeNumber<Number>(rest);
  if (!change || !rest.empty()) return std::nullopt;
  return Range<Number>{*first, *last, *change, operation};
}

std::string numberText(int64_t value) { return std::to_string(value); }

std::string numberText(double value) {
  std::array<char, 64> buffer;
  return std::string(buffer.data(), std::snprintf(buffer.data(), buffer.size(), "%.12g", value));
}

constexpr int64_t allowance(int64_t) { return 0; }
constexpr double allowance(double last) { return last * 1e-9; }

template <class Number>
std::vector<std::string> writtenOut(const TypedOption& typed, std::string_view text, const Range<Number>& range) {
  const bool times = range.operation == '*';
  const bool grows = times ? range.change > 1 && range.first > 0 : range.change > 0;
  if (range.last < range.first) refuse(typed, text, endsBelow);
  if (!grows) refuse(typed, text, "a range must grow: a factor above 1 and a start above 0, or a step above 0");
  const Number end = range.last + allowance(range.last);
  std::vector<std::string> values;
  for (Number value = range.first;;) {
    if (values.size() == longestRange) refuse(typed, text, "a range has at most 1000 values");
    values.push_back(numberText(value));
    const bool more = times ? value <= end / range.change : range.change <= end - value;
    if (!more) return values;
    value = times ? value * range.change : value + range.change;
  }
}

/// The items of a list. Slashes in paths do not separate items, nor do those within other programs' lists by size.
std::vector<std::string> listed(const TypedOption& typed, const Option* option) {
  const bool hasCatalog = option != nullptr && option->values != Values::any;
  const bool foreign = hasCatalog && option->values == Values::namesBySize && typed.name != option->name;
  std::vector<std::string> items;
  for (const std::string& text : split(typed.value, ",")) {
    const bool path = hasCatalog && option->values == Values::namesWithText && text.find(':') != text.npos;
    const bool whole = !hasCatalog || foreign || path || isFile(*option, text);
    for (std::string& item : split(text, whole ? "" : "/")) items.push_back(std::move(item));
  }
  return items;
}

template <class Number>
void append(std::vector<std::string>& values, const TypedOption& typed, const std::string& text) {
  const auto range = parseRange<Number>(typed, text);
  if (!range) return values.push_back(text);
  for (std::string& value : writtenOut(typed, text, *range)) values.push_back(std::move(value));
}

}  // namespace

std::vector<std::string> listedValues(const TypedOption& typed, const Option* option) {
  const bool oneValue = option != nullptr && !option->isAxis();
  if (oneValue && !option->holdsCommas && typed.value.find(',') != std::string::npos) {
    refuse(typed, typed.value, "takes one value, not a list: it belongs to the whole run");
  }
  if (oneValue) return {typed.value};
  std::vector<std::string> values;
  for (const std::string& text : listed(typed, option)) {
    if (text.empty()) refuse(typed, typed.value, "needs a value, and in a list one on each side of a comma");
    if (option != nullptr && takes<int64_t>(*option)) {
      append<int64_t>(values, typed, text);
    } else if (option != nullptr && takes<double>(*option)) {
      append<double>(values, typed, text);
    } else {
      values.push_back(text);
    }
  }
  return values;
}

}  // namespace tandem
