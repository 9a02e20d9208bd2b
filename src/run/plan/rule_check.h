#pragma once

#include <optional>
#include <string>

#include "base/error.h"

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

}  // namespace tandem
