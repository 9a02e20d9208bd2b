#include "base/version.h"

#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "run/environment.h"

namespace tandem {

int versionCommand(Arguments arguments) {
  const bool asJson = !arguments.empty() && arguments.front() == "--json";
  if (arguments.size() > (asJson ? 1U : 0U)) {
    throw UsageError(concat("--version: unexpected argument '", arguments.back(), "'; the only one is --json"));
  }
  const auto build = version();
  if (asJson) {
    const nlohmann::json object{
        {"version", build.number}, {"commit", build.commit}, {"dirty", build.dirty}, {"libraries", libraryVersions()}};
    std::cout << object.dump(2) << '\n';
  } else {
    std::cout << "tandem " << build.number << " (commit " << build.commit << (build.dirty ? ", changed" : "") << ")\n";
  }
  return 0;
}

}  // namespace tandem
