#include "cli/program.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iomanip>
#include <iostream>

#include "base/catalog.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/commands.h"
#include "formats/io/temporary_name.h"
#include "machine/process/end_on_signal.h"
#include "machine/process/prepare_process.h"
#include "machine/process/resource_limits.h"
#include "run/child/loader_worker.h"
#include "run/child/machine_peaks.h"
#include "run/child/point_runner.h"
#include "run/links/measure_links.h"

namespace tandem {
namespace {

int helpCommand(Arguments) {
  std::cout << "Usage: tandem COMMAND [--OPTION=VALUE ...]\n\n"
               "Trains convolutional networks data-parallel and measures every way of doing it on this machine.\n\n"
               "Commands:\n";
  for (const auto& command : programCommands()) {
    if (command.shown) std::cout << "  " << std::left << std::setw(12) << command.name << command.summary << '\n';
  }
  std::cout << "\n'tandem bench --help' lists the options; arguments without a command are those of bench.\n";
  return 0;
}

int workerCommand(Arguments) { return runWorker(); }
int loaderWorkerCommand(Arguments) { return runLoaderWorker(); }
int peaksCommand(Arguments arguments) { return runPeaks(arguments); }
int linksWorkerCommand(Arguments) { return runLinksWorker(); }

constexpr ProgramCommand table[] = {
    {"bench", "measure data-parallel training, images/s; without options 1 and more replicas of ResNet-50",
     benchCommand, true, true},
    {"launch", "'launch -n N -- COMMAND': N processes of this program on this host, the ranks of one run",
     launchCommand, true},
    {"plan", "'plan show': what the planned executor makes of a network: calls, fusions, bytes, FLOPs", planCommand,
     true},
    {"weights", "'weights inspect FILE', 'weights convert FILE OUT': safetensors and .pth, names of other projects",
     weightsCommand, true},
    {"data",
     "'data inspect PATH': what a data set holds; 'data size PATH': whether loading it limits training; 'data convert "
     "FROM TO': packed, for loading fast; 'data make FOLDER': a data set of image files",
     dataCommand, true},
    {"train", "train a network to the end: epochs with evaluations and checkpoints, which it can go on from",
     trainCommand, true, true},
    {"eval", "how good a network with trained weights is on a data set: loss, accuracy, AUC", evalCommand, true},
    {"predict", "what a network with trained weights makes of images: the best classes of each", predictCommand, true},
    {"features", "the features of images by a network with trained weights, as .npy or .safetensors", featuresCommand,
     true},
    {"report", "tables of results files, of published figures and of any CSV of images/s; see 'report --help'",
     reportCommand, true},
    {"list",
     "models, strategies, inputs, precisions, metrics, ...; --format=json for programs; 'list models --dump NAME': a "
     "network "
     "as a file",
     listCommand, true},
    {"links",
     "latency, bandwidth and topology between cores, replicas, processes and GPUs; what gradients take over them",
     linksCommand, true, true},
    {"docs", "the reference of all options as Markdown (docs/OPTIONS.md)", docsCommand, true},
    {"--version", "version and commit; --json adds the libraries", versionCommand, true, true},
    {"--help", "this text", helpCommand, true},
    {"worker", "one point of a sweep, started by bench", workerCommand, false},
    {"loader-worker", "makes batches of a run, started by it with --loader=processes", loaderWorkerCommand, false},
    {"peaks", "a peak of this machine, started by bench", peaksCommand, false},
    {"links-worker", "a part of links, started by it", linksWorkerCommand, false},
};

struct Invocation {
  std::string_view command;
  Arguments rest;
};

Invocation invocationOf(Arguments arguments) {
  if (arguments.empty()) return {"--help", {}};
  const std::string_view first = arguments.front();
  const auto rest = arguments.subspan(1);
  if (first == "help" || first == "-h") return {"--help", rest};
  if (first == "version") return {"--version", rest};
  const bool option = first.starts_with("-") && first != "--help" && first != "--version";
  return option ? Invocation{"bench", arguments} : Invocation{first, rest};
}

const ProgramCommand& commandNamed(std::string_view name) {
  const auto row = std::ranges::find(table, name, &ProgramCommand::name);
  if (row != std::end(table)) return *row;
  std::vector<std::string> valid;
  for (const auto& command : table) {
    if (command.shown) valid.emplace_back(command.name);
  }
  throw UsageError(unknownName("command", name, valid));
}

bool isControl(char c) { return (c >= 0 && c < 0x20) || c == 0x7F; }

/// Results are JSON and tables, which hold text alone.
void requireText(const std::string& argument) {
  if (isUtf8(argument) && std::ranges::none_of(argument, isControl)) return;
  throw UsageError(concat("'", escaped(argument), "': an argument must be text in UTF-8 without control characters"));
}

int exitCodeOf(int argc, char** argv) {
  try {
    prepareProcess();
    return runProgram(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& failure) {
    const Error known = explained(failure);
    logError(concat("error[", nameOf(known.code()), "]: ", known.what()));
    return static_cast<int>(known.code());
  }
}

}  // namespace

bool asksForHelp(Arguments arguments) {
  return std::ranges::any_of(arguments, [](const auto& text) { return text == "--help" || text == "-h"; });
}

std::span<const ProgramCommand> programCommands() { return table; }

const ProgramCommand& commandFor(Arguments arguments) { return commandNamed(invocationOf(arguments).command); }

int runProgram(Arguments arguments) {
  beforeEndBySignal(removeTemporaryFiles);
  std::ranges::for_each(arguments, requireText);
  const auto invocation = invocationOf(arguments);
  const int code = commandNamed(invocation.command).run(invocation.rest);
  std::cout.flush();
  if (!std::cout) throw StorageError("standard output: cannot write to it; is the disk full?");
  return code;
}

int programMain(int argc, char** argv) {
  const int code = exitCodeOf(argc, argv);
#ifdef TANDEM_SANITIZED
  return code;
#else
  std::cout.flush();
  std::fflush(nullptr);
  std::_Exit(code);
#endif
}

}  // namespace tandem
