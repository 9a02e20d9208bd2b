#pragma once

#include "cli/program.h"

namespace tandem {

/// The rows of programCommands(), one file each.
int benchCommand(Arguments arguments);
int planCommand(Arguments arguments);
int weightsCommand(Arguments arguments);
int predictCommand(Arguments arguments);
int featuresCommand(Arguments arguments);
int reportCommand(Arguments arguments);
int listCommand(Arguments arguments);
int docsCommand(Arguments arguments);
int versionCommand(Arguments arguments);

/// True when --help or -h is among them.
bool asksForHelp(Arguments arguments);

}  // namespace tandem
