#include <algorithm>
#include <iostream>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/data/data_commands.h"
#include "device/allocator/cpu_allocator.h"

namespace tandem {
namespace {

/// A command of `tandem data`.
struct DataVerb {
  std::string_view name, operand, summary, example;
  int (*run)(Arguments);
  std::string (*help)();  ///< of its options
};

constexpr DataVerb verbs[] = {
    {"inspect", "PATH",
     "reads every image of a data set, and says what it holds and which cannot be read (exit code 3).",
     "tandem data inspect /data/imagenet", inspectData, inspectHelp},
    {"convert", "FROM TO", "writes the images of any data set that is read into a container, in their order.",
     "tandem data convert /data/imagenet ./imagenet-224 --to=packed --samples=pixels --size=224", convertData,
     convertHelp},
    {"make", "FOLDER", "writes a data set of image files, a folder for each class below train/ and val/.",
     "tandem data make ./photographs --from=/usr/share/datasets/fashion-mnist --images=5000", makeData, makeHelp},
    {"serve", "ADDRESS", "sends batches of a data set by ZeroMQ, as tensorpack does, to --input=zmq-consume:ADDRESS.",
     "tandem data serve ipc://testpipe --data=/data/imagenet --batch=64", serveData, serveHelp},
    {"keys", "FOLDER", "writes the keys by which serve and zmq-consume encrypt what they send, and know each other.",
     "tandem data keys ./zmq-keys", makeKeys, keysHelp},
    {"size", "PATH", "says whether loading a data set limits training here, and what would change that.",
     "tandem data size /data/imagenet --model=resnet50 --batch=32", sizeInput, sizeHelp},
};

std::string dataHelp() {
  std::string text, details, examples;
  for (const DataVerb& verb : verbs) {
    text += concat(text.empty() ? "Usage: " : "       ", "tandem data ", verb.name, ' ', verb.operand,
                   " [--OPTION=VALUE ...]\n");
    details += concat('\n', verb.name, ' ', verb.summary, "\n\n", verb.help());
    examples += concat("  ", verb.example, '\n');
  }
  return concat(text, details, '\n', examples);
}

/// "'tandem data inspect PATH' or 'tandem data make FOLDER'".
std::string usesText() {
  std::vector<std::string> uses;
  for (const DataVerb& verb : verbs) uses.push_back(concat("'tandem data ", verb.name, ' ', verb.operand, '\''));
  return join(uses, " or ");
}

}  // namespace

int dataCommand(Arguments arguments) {
  if (asksForHelp(arguments)) {
    std::cout << dataHelp();
    return 0;
  }
  const std::string_view name = arguments.empty() ? "" : std::string_view(arguments.front());
  const auto verb = std::ranges::find(verbs, name, &DataVerb::name);
  if (verb == std::end(verbs)) {
    throw UsageError(concat("tandem data", name.empty() ? "" : " ", name, ": use ", usesText()));
  }
  installCpuAllocator();
  return verb->run(arguments.subspan(1));
}

}  // namespace tandem
