#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace tandem {

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
