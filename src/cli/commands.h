#pragma once

#include "cli/program.h"

namespace tandem {

/// The functions of programCommands(), one file each. They return the exit code and throw errors.
int benchCommand(Arguments arguments);
int launchCommand(Arguments arguments);
int planCommand(Arguments arguments);
int weightsCommand(Arguments arguments);
int dataCommand(Arguments arguments);
int trainCommand(Arguments arguments);
int evalCommand(Arguments arguments);
int predictCommand(Arguments arguments);
int featuresCommand(Arguments arguments);
int reportCommand(Arguments arguments);
int listCommand(Arguments arguments);
int linksCommand(Arguments arguments);
int docsCommand(Arguments arguments);
int versionCommand(Arguments arguments);

/// True if --help or -h is among the arguments.
bool asksForHelp(Arguments arguments);

}  // namespace tandem
