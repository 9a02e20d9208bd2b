#pragma once

#include <string>

namespace tandem {

/// A kernel's name for people, of its symbol: with its namespaces and template arguments, without what it returns and
/// takes. A symbol that is not mangled is its name.
std::string kernelName(const std::string& symbol);

}  // namespace tandem
