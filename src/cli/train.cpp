#include <unistd.h>

#include <iostream>
#include <memory>
#include <span>

#include "base/catalog.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/arguments/command_files.h"
#include "cli/banner.h"
#include "cli/bench_points.h"
#include "cli/catalogs.h"
#include "cli/commands.h"
#include "cli/log_exporters.h"
#include "cli/progress_line.h"
#include "cli/stop_on_signal.h"
#include "config/recipe/recipe.h"
#include "graph/state.h"
#include "machine/process/child_process.h"
#include "machine/process/utc_time.h"
#include "measure/record/results_file.h"
#include "report/render/print_report.h"
#include "run/child/launched_ranks.h"
#include "run/child/rank_parents.h"
#include "run/environment.h"
#include "run/training/training_rules.h"
#include "run/training/wrong_pictures.h"

namespace tandem {
namespace {

/// Refuses what is for sweeps.
void checkTyped(const Sweep& sweep) {
  if (!sweep.axes.empty()) {
    const std::string_view option = sweep.axes.front().option->name;
    throw UsageError(
        concat("tandem train takes one value of --", option, ", not a list; tandem bench compares several"));
  }
  if (sweep.base.training.epochs <= 0) {
    throw UsageError("tandem train needs --epochs=X, the passes over the training images, as --epochs=10");
  }
  if (sweep.base.step.batch == Config::mostThatFits) {
    throw UsageError("tandem train takes a number of images: --batch=max is for tandem bench, which tries");
  }
}

/// With the options of --recipe, where none are typed.
Sweep parsed(Arguments arguments, const CatalogNames& names) {
  Sweep sweep = parseArguments("train", arguments, names);
  if (sweep.base.training.recipe.empty()) return sweep;
  const Recipe recipe = recipeCalled(sweep.base.training.recipe);
  return parseArguments("train", withRecipe(recipe, arguments, sweep.given), names);
}

std::vector<CommandFile> filesOfTraining(const BenchPoint& point) {
  std::vector<CommandFile> files = filesOf(point.config, onTrain);
  for (CommandFile& file : files) {
    if (file.path == point.config.output.saveWeights) file.bytes = stateBytes(*point.plan->graph);
  }
  return files;
}

/// The run of one training, as its user sees it.
class TrainingSession {
 public:
  TrainingSession(BenchPoint point, RankParents* parents)
      : point_(std::move(point)),
        output_(point_.config.output),
        format_(find(renderers(), output_.format, "--format")),
        logs_(point_.config, format_.forPrograms),
        file_(output_.out),
        runner_(ownExecutable, parents) {}

  int run() {
    people() << bannerText(readEnvironment()) << '\n' << planLine(*point_.plan) << '\n' << std::flush;
    RunRecord record = runner_.run(point_.plan->config, {.deadlineSeconds = deadlineSeconds(point_.config)},
                                   {.progress = [this](const Progress& state) { show(state); }});
    progress_.clear();
    if (record.outcome.code == ExitCode::interrupted) return interrupted();
    record.sweep = concat(utcTime(), '-', getpid());
    record.round = 1;
    file_.append(record);
    if (showsPictures(record)) readPictures(record);
    logs_.add(record, point_.label);
    end(record);
    return exitCodeOf(record);
  }

 private:
  std::ostream& people() const { return format_.forPrograms ? std::cerr : std::cout; }

  bool showsPictures(const RunRecord& record) const {
    return record.training && !(output_.page.empty() && output_.tensorboard.empty());
  }

  /// The training is over: what is wrong now costs the pictures alone.
  static void readPictures(RunRecord& record) {
    try {
      readWrongPictures(record);
    } catch (const DataError& error) {
      record.notes.push_back(concat("no pictures of wrong predictions: ", error.what()));
    }
  }

  void show(const Progress& state) {
    if (state.line.empty()) return progress_.show(point_.label, state);
    progress_.clear();
    people() << state.line << '\n' << std::flush;
  }

  /// Before its first update, or by a second signal.
  int interrupted() const {
    const std::string& folder = point_.config.training.checkpoint;
    logError(concat("error[interrupted]: interrupted",
                    folder.empty() ? "" : concat("; --resume=auto goes on from what is in ", folder)));
    return static_cast<int>(codeWhenInterrupted());
  }

  void end(const RunRecord& record) {
    if (record.outcome.kind != OutcomeKind::ok) {
      logError(concat("error[", nameOf(record.outcome.code), "]: ", record.outcome.reason));
      return;
    }
    if (!format_.forPrograms) std::cout << '\n';
    printTrainingEnd(record, format_, std::cout, people());
    if (output_.page.empty()) return;
    writePage(std::span(&record, 1), output_.page);
    people() << "page: " << output_.page << '\n' << std::flush;
  }

  int exitCodeOf(const RunRecord& record) const {
    if (record.outcome.kind != OutcomeKind::ok) return static_cast<int>(record.outcome.code);
    return static_cast<int>(record.training && record.training->interrupted ? codeWhenInterrupted() : ExitCode::ok);
  }

  ExitCode codeWhenInterrupted() const {
    return point_.config.training.checkpoint.empty() ? ExitCode::interrupted : ExitCode::stoppedAndSaved;
  }

  const BenchPoint point_;
  const Config::Output& output_;
  const RendererEntry& format_;
  RunLogs logs_;
  ResultsFile file_;
  PointRunner runner_;
  ProgressLine progress_;
};

}  // namespace

int trainCommand(Arguments arguments) {
  const auto names = catalogNames();
  if (asksForHelp(arguments)) {
    std::cout << helpText("train", names);
    return 0;
  }
  Sweep sweep = parsed(arguments, names);
  checkTyped(sweep);
  const StopOnSignal stop(trainingSignals);
  const auto launched = takeLaunchedRanks(sweep);
  std::unique_ptr<RankParents> parents;
  if (launched) {
    parents = std::make_unique<RankParents>(*launched, sharedArguments(arguments), sweep.base.exchange.timeout);
    if (!parents->leads()) return parents->follow(ownExecutable), 0;
  }
  for (const auto& note : sweep.notes) logInfo(concat("note: ", note));
  auto points = resolvePoints(sweep, {sweep.base}, parents ? &parents->place() : nullptr);
  BenchPoint& point = points.front();
  for (const std::string& note : point.notes) logInfo(concat("note: ", note));
  checkTraining(*point.plan);
  checkMemory(*point.plan);
  checkFiles(filesOfTraining(point));
  if (sweep.base.output.dryRun) {
    std::cout << planText(*point.plan) << commandLine("train", sweep.base) << '\n';
    return 0;
  }
  return TrainingSession(std::move(point), parents.get()).run();
}

}  // namespace tandem
