#include <iostream>
#include <memory>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/arguments/command_files.h"
#include "cli/bench_compare.h"
#include "cli/bench_points.h"
#include "cli/bench_run.h"
#include "cli/catalogs.h"
#include "cli/commands.h"
#include "graph/state.h"
#include "machine/cpu/topology.h"
#include "machine/gpu/gpu_facts.h"
#include "machine/process/child_process.h"
#include "run/child/launched_ranks.h"
#include "run/child/rank_parents.h"

namespace tandem {
namespace {

int printPlans(const std::vector<BenchPoint>& points) {
  ExitCode code = ExitCode::ok;
  for (size_t i = 0; i < points.size(); ++i) {
    std::cout << (i > 0 ? "\n" : "") << '[' << i + 1 << '/' << points.size() << "] " << points[i].label << '\n';
    if (points[i].plan) {
      std::cout << planText(*points[i].plan);
    } else {
      std::cout << "not possible: " << points[i].refusal << '\n';
      code = ExitCode::usage;
    }
  }
  return static_cast<int>(code);
}

/// Throws UsageError if several points would write the same file.
void checkWrittenOnce(const char* option, const std::string& path, size_t points) {
  if (path.empty() || points == 1) return;
  throw UsageError(concat(option, "=", path, " with ", points, " points: each would replace the file of the one ",
                          "before; name one point, as --replicas=2"));
}

/// The files that the points name, each once: most are those of the whole run.
std::vector<CommandFile> filesOf(const std::vector<BenchPoint>& points) {
  std::set<std::string> titles;
  std::vector<CommandFile> files;
  for (const BenchPoint& point : points) {
    for (CommandFile& file : filesOf(point.config, onBench)) {
      if (point.plan && file.path == point.config.output.saveWeights) file.bytes = stateBytes(*point.plan->graph);
      if (titles.insert(file.title).second) files.push_back(std::move(file));
    }
  }
  return files;
}

/// What the points' strategies have no use for, each once.
void logPassedOver(const std::vector<BenchPoint>& points) {
  std::set<std::string> notes;
  for (const BenchPoint& point : points) notes.insert(point.notes.begin(), point.notes.end());
  for (const std::string& note : notes) logInfo(concat("note: ", note));
}

}  // namespace

int benchCommand(Arguments arguments) {
  const auto names = catalogNames();
  if (asksForHelp(arguments)) {
    std::cout << helpText("bench", names);
    return 0;
  }
  Sweep sweep = parseArguments("bench", arguments, names);
  const auto launched = takeLaunchedRanks(sweep);
  std::unique_ptr<RankParents> parents;
  if (launched) {
    parents = std::make_unique<RankParents>(*launched, sharedArguments(arguments), sweep.base.exchange.timeout);
    if (!parents->leads()) return parents->follow(ownExecutable), 0;
  }
  addDefaultAxes(sweep, placesOf(static_cast<int64_t>(readTopology().cores.size()), cudaFacts()));
  for (const auto& note : sweep.notes) logInfo(concat("note: ", note));
  auto points = resolvePoints(sweep, expand(sweep, names), parents ? &parents->place() : nullptr);
  logPassedOver(points);
  checkWrittenOnce("--save-weights", sweep.base.output.saveWeights, points.size());
  checkWrittenOnce("--trace", sweep.base.output.trace, points.size());
  if (sweep.base.measurement.compare) checkComparable(points);
  checkFiles(filesOf(points));
  if (sweep.base.output.dryRun) return printPlans(points);
  return BenchRun(sweep.base, std::move(points), parents.get()).run();
}

}  // namespace tandem
