#include <algorithm>
#include <optional>

#include "base/text.h"
#include "config/device_set.h"
#include "config/option.h"
#include "config/split.h"
#include "graph/operation.h"
#include "machine/gpu/gpu_facts.h"
#include "run/plan/rule_check.h"
#include "run/plan/rules.h"

namespace tandem {
namespace {

Breach devicesServeThePrecision(const RunPlan& plan) {
  std::vector<std::optional<int>> capabilities;  // one per device; empty for a CPU
  if (plan.cudaDevices.empty()) capabilities.emplace_back();
  for (const int gpu : plan.cudaDevices) {
    capabilities.emplace_back(cudaFacts().gpus.at(static_cast<size_t>(gpu)).capability);
  }
  for (const auto& capability : capabilities) {
    const auto breach = whyNotOn(capability, *plan.setup.precision);
    if (!breach) continue;
    return concat("--precision=", plan.config.numerics.precision, " with --devices=", plan.config.placement.devices,
                  ": ", *breach);
  }
  return std::nullopt;
}

Breach splitNamesAllReplicas(const RunPlan& plan) {
  const auto weights = std::ssize(parseSplit(plan.config.step.split).value().weights);
  if (weights == 0 || weights == totalReplicas(plan.config)) return std::nullopt;
  return concat("--split=", plan.config.step.split, " with ", totalReplicas(plan.config), " replicas: it has ", weights,
                " numbers; give one for each replica");
}

Breach batchIsCutIntoEqualParts(const RunPlan& plan) {
  const Config& config = plan.config;
  const bool sharedOut = plan.setup.scaling->batchIsGlobal || config.step.split != Config().step.split;
  const int64_t images = sharedOut ? plan.globalBatch : config.step.batch;
  if (images % imagesTogether(config.step) == 0) return std::nullopt;
  const std::string_view whose = sharedOut ? "the global" : "a replica's";
  return concat(mixes(config.step) ? concat(mixingText(config.step), " with ") : "",
                "--accumulate=", config.step.accumulate, ": ", whose, " batch of ", images,
                " images cannot be cut into so many equal parts", mixes(config.step) ? " of whole pairs" : "",
                "; take a multiple of ", imagesTogether(config.step));
}

Breach eachReplicaHasImages(const RunPlan& plan) {
  const Config& config = plan.config;
  if (plan.globalBatch / config.step.accumulate >= totalReplicas(config)) return std::nullopt;
  return concat(
      "--batch=", config.step.batch, " with --scaling=", config.measurement.scaling, " and ", totalReplicas(config),
      " replicas: each needs an image for each part of --accumulate=", config.step.accumulate, "; raise --batch");
}

/// What is averaged must be gradients: those of a larger share are larger by as much.
Breach unequalSharesAreSummed(const RunPlan& plan) {
  const Config& config = plan.config;
  const Exchange exchange = plan.setup.strategy->exchange;
  const bool maySplit = parseSplit(config.step.split).value().measured && totalReplicas(config) > 1;
  if (exchange == Exchange::synchronous || exchange == Exchange::lossy || config.step.forwardOnly) return std::nullopt;
  if (!maySplit && unequalShares(plan).empty()) return std::nullopt;
  return concat("--strategy=", config.exchange.strategy, " with unequal shares of a global batch of ", plan.globalBatch,
                " (--split=", config.step.split, ", ", totalReplicas(config),
                " replicas): it sums no gradients, in which all samples would count alike; use --strategy=",
                Config().exchange.strategy);
}

Breach classesHoldTheDatas(const RunPlan& plan) {
  if (!plan.data || plan.config.network.classes >= plan.data->info.classes) return std::nullopt;
  return concat("--classes=", plan.config.network.classes, " with --data=", plan.config.input.data,
                ": the data set has ", plan.data->info.classes,
                " classes; leave --classes away or give at least that many");
}

Breach imagesFitTheInput(const RunPlan& plan) {
  if (!plan.data) return std::nullopt;
  const DatasetInfo& info = plan.data->info;
  const ImageShape input = plan.graph->node(plan.graph->input()).shape;
  const std::string fault =
      plan.augment->chain.fault({info.height, info.width, info.channels}, {input.height, input.width, 3});
  if (fault.empty()) return std::nullopt;
  if (plan.config.step.forwardOnly)
    return concat("--data=", plan.config.input.data, ": ", fault, "; change --image-size");
  return concat("--data=", plan.config.input.data, " with --augment=", plan.augment->text, ": ", fault,
                "; change --image-size, or end --augment with center_crop or random_resized_crop");
}

/// Of training; predict and features may have files without --data.
Breach optionsOfImagesHaveThem(const RunPlan& plan) {
  const Config& config = plan.config;
  if (config.step.forwardOnly && !config.step.loaderOnly) return std::nullopt;
  if (config.input.decode != Config().input.decode && !(plan.data && plan.data->info.encoded())) {
    return concat("--decode=", config.input.decode, " is for image files; ",
                  plan.data ? concat("--data=", config.input.data, " has pixels") : "give them as --data");
  }
  if (config.input.shuffleBuffer > 0 && !(plan.data && plan.data->info.sharded)) {
    return concat("--shuffle-buffer=", config.input.shuffleBuffer,
                  " is for shards, which are read from their beginning; ",
                  plan.data ? concat("--data=", config.input.data, " has none") : "give them as --data");
  }
  const Config::Inference &asked = config.inference, usual = Config().inference;
  if (asked.badImage != usual.badImage && !(plan.data && plan.data->info.readsFiles())) {
    return concat("--bad-image=", asked.badImage, " is for image files; ",
                  plan.data ? concat("--data=", config.input.data, " has pixels") : "give them as --data");
  }
  if (asked.normalization == usual.normalization || plan.data || plan.setup.source->stream) return std::nullopt;
  return concat("--normalization=", asked.normalization, " is for the images of --data, which is not given");
}

Breach labelsFitTheLoss(const RunPlan& plan) {
  if (!plan.data) return std::nullopt;
  const LabelKind &read = labelsOf(*plan.graph), &given = *plan.data->info.labels;
  if (read.name == given.name) return std::nullopt;
  return concat("--head=", plan.config.network.head, " with --data=", plan.config.input.data, ": ",
                plan.graph->loss().name, " needs labels of ", read.summary, ", the data set has ", given.summary,
                "; leave --data or --head away");
}

Breach labelsCanBeMixed(const RunPlan& plan) {
  const LabelKind& labels = labelsOf(*plan.graph);
  if (!mixes(plan.config.step) || labels.mixable) return std::nullopt;
  return concat(mixingText(plan.config.step), " with --model=", plan.config.network.model, ": its labels are ",
                labels.summary, ", which cannot be mixed; leave it out");
}

Breach viewsAreAveraged(const RunPlan& plan) {
  if (plan.setup.views == &evaluationViews().front() || !plan.graph->loss().head.empty()) return std::nullopt;
  return concat("--views=", plan.config.inference.views, " with --model=", plan.config.network.model,
                ": outputs of a detector belong to places in the image, so those of several views have no mean; leave ",
                "--views away");
}

Breach classesHaveWeights(const RunPlan& plan) {
  if (plan.config.step.classWeights.empty() || lossOf(*plan.graph).weighsClasses) return std::nullopt;
  return concat("--class-weights=", plan.config.step.classWeights, " with --model=", plan.config.network.model, ": ",
                plan.graph->loss().name, " takes no weights of classes; leave it out");
}

Breach targetsHaveAThreshold(const RunPlan& plan) {
  const double asked = plan.config.step.bceThreshold;
  if (asked == Config().step.bceThreshold || lossOf(*plan.graph).thresholds) return std::nullopt;
  std::vector<std::string> forms;
  for (const LossEntry& loss : losses()) {
    if (loss.thresholds) forms.push_back(concat("--loss=", loss.task->form));
  }
  return concat("--bce-threshold=", asked, " does nothing with ", plan.graph->loss().name, ", the loss of this network",
                "; only ", join(forms), " uses it");
}

Breach classesCanBeCounted(const RunPlan& plan) {
  const std::string& asked = plan.config.step.classWeights;
  if (asked != Config::balanced || !plan.data || !plan.data->info.labelsInside) return std::nullopt;
  return concat("--class-weights=", asked, " with --data=", plan.config.input.data, ": labels of a data set '",
                plan.data->info.name, "' lie in the records of its images, which would all be read; give ",
                "--class-weights=FILE, or convert the data to packed shards (tandem data convert)");
}

Breach imagesCanBePadded(const RunPlan& plan) {
  const ImagePaddingEntry* const padding = plan.setup.padding;
  if (padding == nullptr || padding->multiple == 1 || canPadImages(*plan.graph)) return std::nullopt;
  return concat("--pad-images=", plan.config.numerics.padImages, " with --model=", plan.config.network.model,
                ": its images are read by something else than convolutions without groups, which alone can do with ",
                "more channels; leave --pad-images away");
}

Breach batchNormHasSeveralValues(const RunPlan& plan) {
  if (plan.config.step.forwardOnly) return std::nullopt;
  const int64_t together = plan.config.exchange.syncBatchNorm ? plan.globalBatch : std::ranges::min(plan.shares);
  const int64_t images = together / plan.config.step.accumulate;
  for (const Node& node : plan.graph->nodes()) {
    if (!node.operation->traits.batchNorm || images * node.shape.height * node.shape.width > 1) continue;
    return concat("--batch=", plan.config.step.batch, " with --image-size=", plan.config.network.imageSize, ": ",
                  node.name, " of ", plan.config.network.model,
                  " would normalise a single value per channel, which has no variance; raise ",
                  "--batch or --image-size");
  }
  return std::nullopt;
}

/// One without variables would have nothing to wait for, and be at the end before all others.
Breach serversHaveVariables(const RunPlan& plan) {
  const auto variables = std::ssize(plan.graph->parameters());
  const int64_t servers = plan.config.placement.servers;
  if (servers <= variables) return std::nullopt;
  return concat("--servers=", servers, " with --model=", plan.config.network.model, ": it has ", variables,
                " variables, and each server needs one; lower --servers");
}

Breach keptSamplesAreRead(const RunPlan& plan) {
  const auto refused = [&](const auto&... why) { return concat("--cache=", plan.config.input.cacheGib, why...); };
  if (plan.config.input.cacheGib == 0 || (plan.data && plan.data->info.readsFiles())) return std::nullopt;
  if (!plan.data) return refused(": images that --data does not name are not read from files; leave it out");
  return refused(" with --data=", plan.config.input.data, ": its images are all in memory; leave it out");
}

constexpr Breach (*planRules[])(const RunPlan&) = {
    devicesServeThePrecision, splitNamesAllReplicas, batchIsCutIntoEqualParts,  eachReplicaHasImages,
    unequalSharesAreSummed,   classesHoldTheDatas,   imagesFitTheInput,         optionsOfImagesHaveThem,
    labelsFitTheLoss,         imagesCanBePadded,     batchNormHasSeveralValues, serversHaveVariables,
    labelsCanBeMixed,         classesHaveWeights,    classesCanBeCounted,       keptSamplesAreRead,
    targetsHaveAThreshold,    viewsAreAveraged,
};

}  // namespace

void checkPlan(const RunPlan& plan) { requireAll(planRules, plan); }

}  // namespace tandem
