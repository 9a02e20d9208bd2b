#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace tandem {

/// The message of a broken rule, with the values and the remedy; empty if the rule holds.
using Breach = std::optional<std::string>;

/// Throws UsageError with the first of the rules that is broken.
template <class Rules, class... Given>
void requireAll(const Rules& rules, const Given&... given) {
  for (const auto rule : rules) {
    if (const Breach breach = rule(given...)) throw UsageError(*breach);
  }
}

/// "--executor=planned", "--optimizer=adam and adamw": the rows that have something, a field or a predicate.
template <class Entry, class Has>
std::string thoseWith(std::string_view option, std::span<const Entry> catalog, Has has) {
  std::vector<std::string> names;
  for (const Entry& entry : catalog) {
    if (std::invoke(has, entry)) names.emplace_back(entry.name);
  }
  const std::string last = names.back();
  names.pop_back();
  return concat(option, '=', join(names), names.empty() ? "" : " and ", last);
}

}  // namespace tandem
