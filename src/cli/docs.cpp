#include <iostream>

#include "base/error.h"
#include "base/text.h"
#include "cli/catalogs.h"
#include "cli/commands.h"
#include "config/command_line.h"

namespace tandem {

int docsCommand(Arguments arguments) {
  if (!arguments.empty()) {
    throw UsageError(concat("docs: unexpected argument '", arguments.front(), "'; it takes none"));
  }
  std::cout << optionsMarkdown(catalogNames());
  return 0;
}

}  // namespace tandem
