#include "run/point_parts.h"

#include <unistd.h>

#include <algorithm>

#include "base/number.h"
#include "base/text.h"
#include "config/device_set.h"
#include "config/split.h"
#include "executor/compile/plan_description.h"
#include "machine/cpu/host_facts.h"
#include "measure/metrics/updates.h"
#include "run/measured_shares.h"
#include "run/plan/cuda_graph_policy.h"
#include "run/plan/step_cost.h"
#include "trace/fault.h"
#include "train/checkpoint/weight_loader.h"

namespace tandem {
namespace {

/// ActualSetup::update.
std::string updateOf(const Setup& setup) {
  const Exchange exchange = exchangeOf(*setup.strategy, *setup.precision);
  if (exchange != Exchange::stale && exchange != Exchange::lossy) return "";
  const std::string name = optionsText(*setup.strategy);
  if (exchange == setup.strategy->exchange) return name;
  return concat(name, " with gradients in ", gradientPrecisionOf(setup.precision->wire).name);
}

/// The largest value over the devices.
int64_t largest(const std::vector<Device>& devices, int64_t (Device::*bytes)() const) {
  int64_t most = 0;
  for (const Device& device : devices) most = std::max(most, (device.*bytes)());
  return most;
}

}  // namespace

ActualSetup placementOf(const RunPlan& plan, const ReplicaSetOptions& team) {
  const StrategyEntry& strategy = *plan.setup.strategy;
  ActualSetup placement;
  for (const Device& device : team.devices) placement.replicas.push_back(device.label());
  placement.shares = team.shares;
  placement.threadsPerReplica = plan.cores.threadsPerReplica;
  placement.sharedCores = plan.cores.shared;
  placement.link = plan.link;
  if (strategy.usesAllReduce && totalReplicas(plan.config) > 1) placement.allReduce = plan.setup.allReduce.text();
  placement.control = strategy.exchange == Exchange::none && totalReplicas(plan.config) > 1;
  placement.update = updateOf(plan.setup);
  placement.layout = team.kernels.layout.name;
  placement.cudaGraph = cudaGraphText(plan.config, plan.setup);
  placement.loss = plan.graph->loss().name;
  placement.network = plan.network;
  placement.networkSha256 = plan.networkSha256;
  placement.kernels = team.kernels.details;
  placement.zeroChannels = team.kernels.zeroChannels;
  placement.convolutionPasses = passesOf(team.kernels, *team.graph);
  if (plan.setup.executor->planned)
    placement.byAutograd = operationsByAutograd(*team.graph, team.devices.front().torch());
  placement.activationBytes = plan.activationBytes;
  placement.parameters = plan.parameters;
  if (plan.data) placement.dataImages = plan.data->images;
  placement.ownImageSize = plan.ownImageSize;
  noteWork(plan, placement);
  return placement;
}

void noteWork(const RunPlan& plan, ActualSetup& placement) {
  const StepWork work = stepWork(plan);
  placement.forwardFlopsPerImage = plan.forwardFlopsPerImage;
  placement.flopsPerImage = work.flopsPerImage;
  placement.bytesPerStep = work.bytesPerStep;
}

void append(std::vector<std::string>& notes, const std::vector<std::string>& more) {
  notes.insert(notes.end(), more.begin(), more.end());
}

std::vector<int> observedProcesses(const RunPlan& plan) {
  if (plan.world == nullptr) return {getpid()};
  std::vector<int> processes;
  for (const std::string& text : plan.world->exchange(concat(hostName(), ' ', getpid()))) {
    const auto said = split(text, " ");
    if (said.at(0) == hostName()) processes.push_back(numberIn<int>(said.at(1)).value());
  }
  return plan.place.localRank == 0 ? processes : std::vector<int>();
}

std::function<void(int64_t, int64_t)> progressOf(Phase phase, const ProgressCallback& progress) {
  return [phase, &progress](int64_t part, int64_t parts) {
    if (progress) progress({.phase = phase, .step = part, .steps = parts});
  };
}

RunPlan withShares(RunPlan plan, std::vector<int64_t> kept, const KernelSelection& kernels, const TrainingData& data,
                   const ProgressCallback& progress) {
  if (!parseSplit(plan.config.step.split).value().measured) return plan;
  plan.shares =
      kept.empty() ? measuredShares(plan, kernels, data, progressOf(Phase::sharingOut, progress)) : std::move(kept);
  plan.replicaBatch = std::ranges::max(plan.shares);
  return plan;
}

std::vector<double> lossWeights(const ReplicaSetOptions& options) {
  std::vector<double> weights;
  const auto mean = meanShare(options);
  for (const int64_t share : ownShares(options)) weights.push_back(static_cast<double>(share) / *mean);
  return weights;
}

void noteShares(const ReplicaSetOptions& options, RunRecord& record) {
  if (options.shares.empty()) return;
  std::vector<std::string> texts;
  for (const int64_t share : options.shares) texts.push_back(concat(share));
  record.notes.push_back(
      concat("the replicas' shares of the global batch (--split=", record.config.step.split, "): ", join(texts)));
}

SavedWeights::SavedWeights(const std::string& path) : path_(path) {
  if (!path.empty()) file_.emplace(path);
}

void SavedWeights::write(const Graph& graph, ReplicaSet::Member& member) {
  if (!file_) return;
  faultAt(FaultPhase::write);
  appendWeights(*file_, graph, member.buffers(), member.executor());
}

void SavedWeights::note(RunRecord& record) const {
  if (file_ && updatesOf(record)) record.notes.push_back(concat(path_, ": ", updatesText(record)));
}

void SavedWeights::commit() {
  if (!file_) return;
  faultAt(FaultPhase::rename);
  file_->commit();
}

ReplicaSetOptions startedOptions(const RunPlan& plan, const KernelSelection& kernels, const TrainingData& data,
                                 RunRecord& record) {
  ReplicaSetOptions options =
      servesAlone(plan) ? replicaSetOptions(plan, *plan.graph, kernels) : trainingOptions(plan, kernels, data);
  options.keepsFlightLog = !options.servesAlone;
  options.pretrained = readPretrained(plan.config, *plan.graph);
  if (!options.pretrained) return options;
  append(record.notes, options.pretrained->notes);
  append(record.notes, options.pretrained->warnings);
  return options;
}

void sortByReplica(std::vector<StepSample>& samples) { std::ranges::stable_sort(samples, {}, &StepSample::replica); }

void fillOrigin(const BatchOrigin* origin, ActualSetup& placement) {
  if (origin == nullptr) return;
  placement.data = origin->data, placement.augment = origin->augment;
  placement.imageMean = origin->mean, placement.imageDeviation = origin->deviation;
}

void noteData(const TrainingData& data, RunRecord& record) {
  if (data.bad && !data.bad->text().empty()) record.notes.push_back(data.bad->text());
  if (const std::string cached = data.cacheText(); !cached.empty()) record.notes.push_back(cached);
}

void fillFrom(const ReplicaSet& team, const ReplicaSetOptions& options, RunRecord& record) {
  record.peakMemoryBytes = largest(options.devices, &Device::peakBytes);
  record.peakReservedBytes = largest(options.devices, &Device::peakReservedBytes);
  const StrategyTraffic traffic = team.traffic();
  record.traffic = {traffic.bytesPerStep, traffic.messagesPerStep, traffic.bytesBetweenRanks};
  if (const auto staleness = team.staleness()) {
    const auto updates = static_cast<double>(std::max<int64_t>(1, staleness->updates));
    record.staleness = {staleness->updates, static_cast<double>(staleness->sum) / updates, staleness->most};
  }
  record.placement.exchangeMemory = team.exchangeMemory();
  if (!record.placement.allReduce.empty() && !team.sums().empty()) record.placement.allReduce = team.sums();
  if (options.servesAlone) record.placement.replicas.clear(), record.steps.clear();
}

}  // namespace tandem
