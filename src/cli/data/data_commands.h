#pragma once

#include "cli/program.h"

namespace tandem {

/// 'tandem data inspect': reads every image of a data set, and says what it holds and which cannot be read. Returns the
/// exit code: 3 if there is one of these.
int inspectData(Arguments arguments);
std::string inspectHelp();

/// 'tandem data make': writes a data set of image files.
int makeData(Arguments arguments);
std::string makeHelp();

}  // namespace tandem
