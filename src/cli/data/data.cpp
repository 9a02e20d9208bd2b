#include <iostream>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/data/data_commands.h"

namespace tandem {

int dataCommand(Arguments arguments) {
  const std::string_view verb = arguments.empty() ? "" : std::string_view(arguments.front());
  if (asksForHelp(arguments)) {
    std::cout << "Usage: tandem data inspect PATH [--OPTION=VALUE ...]\n"
                 "       tandem data make FOLDER [--OPTION=VALUE ...]\n\n"
                 "inspect reads every image of a data set, and says what it holds and which cannot be read (exit code "
                 "3).\n\n"
              << inspectHelp()
              << "\nmake writes a data set of image files, a folder for each class below train/ and val/.\n\n"
              << makeHelp()
              << "\n  tandem data inspect /data/imagenet\n"
                 "  tandem data make ./photographs --from=/usr/share/datasets/fashion-mnist --images=5000\n";
    return 0;
  }
  if (verb == "inspect") return inspectData(arguments.subspan(1));
  if (verb == "make") return makeData(arguments.subspan(1));
  throw UsageError(concat("tandem data", verb.empty() ? "" : " ", verb,
                          ": use 'tandem data inspect PATH' or 'tandem data make FOLDER'"));
}

}  // namespace tandem
