#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/links/links_command.h"
#include "cli/links/links_tables.h"
#include "cli/stop_on_signal.h"
#include "comm/launched_meeting.h"
#include "device/device.h"
#include "device/gpu_support.h"
#include "graph/graph.h"
#include "machine/cpu/topology.h"
#include "machine/gpu/gpu_facts.h"
#include "machine/process/child_process.h"
#include "measure/record/results_file.h"
#include "models/model.h"
#include "run/environment.h"
#include "run/plan/placement.h"

namespace tandem {
namespace {

LinkPlaces placesOf(const Topology& topology) {
  return {.cores = std::ssize(topology.cores), .gpus = usableGpus(cudaFacts()), .refusal = [](int gpu) {
            return gpuRefusal(cudaFacts(), gpu);
          }};
}

/// One line on a terminal that is rewritten; nothing elsewhere.
void showDoing(const std::string& part) {
  if (isatty(STDERR_FILENO) == 1)
    std::fprintf(stderr, "\r%s\033[K", part.empty() ? "" : concat("measuring ", part).c_str());
}

std::vector<Gradients> gradientsOf(const LinksCommand& command, const Environment& environment) {
  const auto records = command.results.empty() ? std::vector<RunRecord>() : readResults(command.results);
  std::vector<Gradients> networks;
  for (const std::string& model : command.models) {
    networks.push_back({model, parameterCount(buildModel(model, {})), {}, ""});
    findStep(networks.back(), records, environment.host);
  }
  return networks;
}

std::vector<int> firstThreads(const Topology& topology) {
  std::vector<int> threads;
  for (const Core& core : topology.cores) threads.push_back(core.threads.front());
  return threads;
}

void append(std::vector<ResultTable>& tables, std::vector<ResultTable> more) {
  for (ResultTable& table : more) tables.push_back(std::move(table));
}

std::vector<ResultTable> topologyTables(const LinksCommand& command, const Topology& topology) {
  std::vector<ResultTable> tables;
  const auto threads = firstThreads(topology);
  if (command.request.cpu) tables.push_back(coreMatrix(threads, sharedByPairs(threads)));
  if (!command.request.gpus.empty()) append(tables, gpuPathTables(gpuLinks()));
  return tables;
}

std::vector<ResultTable> linkAndGradientTables(const std::vector<LinkSeries>& series,
                                               const std::vector<Gradients>& networks) {
  std::vector<ResultTable> tables{linkSummary(series)};
  append(tables, linkTables(series));
  tables.push_back(gradientTable(series, networks));
  tables.push_back(breakEvenTable(series));
  return tables;
}

/// What is between the ranks that a launcher started, of which this process is one. Rank 0 prints it.
int linksOfRanks(const LaunchedRank& launched, const LinksCommand& command) {
  const Environment environment = readEnvironment();
  const auto networks = gradientsOf(command, environment);
  const LaunchedMeeting meeting = meetingOf(launched);
  const auto series = measureLaunchedRanks(meeting.place, command.request);
  if (meeting.place.rank != 0) return 0;
  std::vector<ResultTable> tables{machineTable(environment)};
  append(tables, linkAndGradientTables(series, networks));
  command.format->print(tables, std::cout);
  return 0;
}

}  // namespace

int linksCommand(Arguments arguments) {
  if (asksForHelp(arguments)) {
    std::cout << linksHelp();
    return 0;
  }
  const Topology topology = readTopology();
  const LinksCommand command = parseLinks(arguments, placesOf(topology));
  if (const auto launched = rankPlaceFromEnvironment(variablesOfProcess())) return linksOfRanks(*launched, command);
  const Environment environment = readEnvironment();
  const auto networks = gradientsOf(command, environment);
  checkLinkMemory(command.request, Device::cpu(0, {}, 1).availableBytes());
  const StopOnSignal stopping;
  const MeasuredLinks measured = measureLinks(ownExecutable, command.request, showDoing);
  showDoing("");
  std::vector<ResultTable> tables{machineTable(environment)};
  append(tables, topologyTables(command, topology));
  append(tables, linkAndGradientTables(measured.series, networks));
  if (measured.stopped) tables.front().notes.emplace_back("interrupted: the links that are missing were not measured");
  command.format->print(tables, std::cout);
  return static_cast<int>(measured.stopped ? ExitCode::interrupted : ExitCode::ok);
}

}  // namespace tandem
