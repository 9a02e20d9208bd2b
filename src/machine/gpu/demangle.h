#pragma once

#include <string>

namespace tandem {

/// Readable name of a kernel from its symbol: namespaces and template arguments, without return type and parameters. A
/// symbol that is not mangled stays as it is.
std::string kernelName(const std::string& symbol);

}  // namespace tandem
