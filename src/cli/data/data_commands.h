#pragma once

#include "cli/program.h"

namespace tandem {

/// 'tandem data inspect': reads every image of a data set, and says what it holds and which cannot be read. Returns the
/// exit code: 3 if there is one of these.
int inspectData(Arguments arguments);
std::string inspectHelp();

/// 'tandem data convert': writes the images of a data set into another container.
int convertData(Arguments arguments);
std::string convertHelp();

/// 'tandem data make': writes a data set of image files.
int makeData(Arguments arguments);
std::string makeHelp();

/// 'tandem data serve': sends batches of a data set by ZeroMQ, as tensorpack does.
int serveData(Arguments arguments);
std::string serveHelp();

/// 'tandem data keys': writes the keys of an encrypted connection of serve and zmq-consume.
int makeKeys(Arguments arguments);
std::string keysHelp();

/// 'tandem data size': measures whether loading a data set limits training here, and what would change that.
int sizeInput(Arguments arguments);
std::string sizeHelp();

}  // namespace tandem
