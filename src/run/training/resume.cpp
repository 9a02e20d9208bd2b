#include "run/training/resume.h"

#include <cmath>

#include "base/log.h"
#include "base/text.h"
#include "config/config_json.h"
#include "config/option.h"

namespace tandem {
namespace {

constexpr size_t mostNamed = 10;

bool changesBits(const Option& option, const Setup& setup) {
  switch (option.bits) {
    case Bits::usual:
      return option.isAxis();
    case Bits::kept:
      return false;
    case Bits::changed:
      return true;
    case Bits::byEvaluation:
      return setup.schedule->followsLoss;
    case Bits::byCheckpoint:
      return setup.onNan->goesBack;
  }
  return true;
}

/// "--lr was 0.1, and is 0.05", for each option by which other bits are trained.
std::vector<std::string> changedOptions(const Config& before, const RunPlan& plan) {
  std::vector<std::string> changed;
  for (const Option& option : options()) {
    if ((option.commands & onTrain) == 0 || !changesBits(option, plan.setup)) continue;
    const std::string was = valueText(before, option), is = valueText(plan.config, option);
    if (was != is) changed.push_back(concat("--", option.name, " was ", was, ", and is ", is));
  }
  return changed;
}

std::vector<std::string> changesSince(const CheckpointFacts& facts, const RunPlan& plan, const std::string& program) {
  auto changed = changedOptions(configFromJson(facts.config), plan);
  if (facts.data != dataFacts(plan)) {
    changed.push_back(concat("the training images were ", facts.data, ", and are ", dataFacts(plan)));
  }
  if (facts.program != program) {
    changed.push_back(concat("the program was ", facts.program, ", and is ", program));
  }
  if (changed.size() > mostNamed) {
    const size_t more = changed.size() - mostNamed;
    changed.resize(mostNamed);
    changed.push_back(concat(more, " more"));
  }
  return changed;
}

/// The number of updates of this batch after which as many images were seen.
void countInBatches(Checkpoint& checkpoint, int64_t batch) {
  if (checkpoint.facts.batch == batch) return;
  const double images = static_cast<double>(checkpoint.facts.step) * static_cast<double>(checkpoint.facts.batch);
  checkpoint.facts.step = checkpoint.state.step = std::llround(images / static_cast<double>(batch));
}

}  // namespace

std::string dataFacts(const RunPlan& plan) {
  if (!plan.data) return "synthetic";
  return concat(plan.data->info.name, ", ", plan.data->images, " images, ", plan.data->info.classes, " classes");
}

std::string programFacts(const Environment& environment) {
  std::string facts = concat(environment.tandemVersion, ' ', environment.commit, environment.dirty ? " (changed)" : "");
  const auto libtorch = environment.libraries.find("libtorch");
  if (libtorch != environment.libraries.end()) facts += concat(", libtorch ", libtorch->second);
  return facts;
}

std::optional<Checkpoint> checkpointToResume(const RunPlan& plan, const Environment& environment) {
  const Config::Training& training = plan.config.training;
  if (training.checkpoint.empty()) return std::nullopt;
  if (!plan.setup.resume->wanted) {
    if (checkpointSteps(training.checkpoint).empty()) return std::nullopt;
    throw UsageError(concat("--checkpoint=", training.checkpoint,
                            " has checkpoints; --resume=auto goes on from the newest, or give another folder"));
  }
  auto checkpoint = newestCheckpoint(training.checkpoint);
  if (!checkpoint) {
    if (!plan.setup.resume->required) return std::nullopt;
    throw UsageError(concat("--resume=", training.resume, ": there is no checkpoint in ", training.checkpoint));
  }
  const auto changed = changesSince(checkpoint->facts, plan, programFacts(environment));
  if (!changed.empty() && !training.allowChanges) {
    throw CheckpointError(concat(checkpoint->path, " is of another training: ", join(changed, "; "),
                                 "; --allow-changes goes on all the same, and says so in the results"));
  }
  if (!changed.empty()) {
    std::string& all = checkpoint->facts.record.changed;
    all = concat(all, all.empty() ? "" : "; ", join(changed, "; "));
    checkpoint->facts.kernels.clear(), checkpoint->facts.shares.clear();  // those of another training
  }
  countInBatches(*checkpoint, plan.globalBatch);
  return checkpoint;
}

}  // namespace tandem
