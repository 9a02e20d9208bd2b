#include "run/input_sizing.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "config/device_set.h"
#include "data/dataset/decoded_dataset.h"
#include "data/transform/transform.h"
#include "run/plan/replica_set_options.h"

namespace tandem {
namespace {

constexpr double worthwhile = 0.05;         // a smaller gain is not advised
constexpr int rounds = 3;                   // of which the middle one counts
constexpr int64_t mostDecoded = 128 << 20;  // bytes of pixels: more than most caches hold

/// What is measured of a way, in rounds.
struct MeteredWay {
  MeteredWay(InputWay of, std::shared_ptr<const BatchMaker> maker, const std::optional<InputForm>& form)
      : way(std::move(of)), meter(std::move(maker), form) {}

  InputWay way;
  LoaderMeter meter;
  std::vector<LoaderRate> one, all;
};

/// The form that producers make inputs in, where they normalise them.
std::optional<InputForm> formOnCores(const RunPlan& plan) {
  if (!plan.setup.onCpu()) return std::nullopt;
  return InputForm{.type = plan.setup.precision->compute, .format = plan.setup.firstLayout().format};
}

std::vector<std::unique_ptr<MeteredWay>> waysOf(const RunPlan& plan) {
  const TrainingData data = trainingData(plan);
  const auto form = formOnCores(plan);
  const auto metered = [&](InputWay way, const RunPlan& asked, const TrainingData& images) {
    return std::make_unique<MeteredWay>(std::move(way), joinedBatches(asked, images), form);
  };
  std::vector<std::unique_ptr<MeteredWay>> ways;
  if (!data.images->info().encoded()) {
    ways.push_back(metered({.name = "pixels", .ofConfig = true}, plan, data));
    return ways;
  }
  for (const DecodingEntry& decoding : decodings()) {
    RunPlan asked = plan;
    asked.setup.decoding = &decoding;
    const bool own = &decoding == plan.setup.decoding;
    const auto place = own ? ways.begin() : ways.end();
    ways.insert(place, metered({.name = concat("--decode=", decoding.name), .ofConfig = own}, asked, data));
  }
  const int64_t side = usualResize(plan.config.network.imageSize);
  const auto decoded = std::make_shared<const DecodedDataset>(*data.images, side, mostDecoded);
  InputWay packed{
      .name = "packed pixels",
      .command = concat("tandem data convert ", plan.config.input.data, " TO --samples=pixels --size=", side),
      .bytes = static_cast<double>(decoded->imageBytes() * data.images->size())};
  RunPlan inMemory = plan;
  inMemory.config.input.shuffleBuffer = 0;
  ways.push_back(metered(std::move(packed), inMemory, {decoded, data.bad}));
  return ways;
}

LoaderRate middle(std::vector<LoaderRate> rates) {
  std::ranges::sort(rates, {}, &LoaderRate::imagesPerSecond);
  return rates[rates.size() / 2];
}

double bestRate(const InputDemand& demand, const InputWay& way) {
  return reachedRate(demand, way, bestProducers(demand, way));
}

/// "--decode=fast with --producers=2 would give 530".
std::string changeText(const InputSizing& sizing, const InputWay& way) {
  const int64_t producers = bestProducers(sizing.demand, way);
  std::vector<std::string> options;
  if (!way.ofConfig) options.push_back(way.name);
  if (producers == inTheStep ? sizing.producers != inTheStep : producers > sizing.producers) {
    options.push_back(feedText(producers));
  }
  const std::string change = concat(join(options, " with "), " would give ", rateText(bestRate(sizing.demand, way)));
  if (way.command.empty()) return change;
  const bool fits = way.bytes < static_cast<double>(sizing.memoryBytes);
  return concat(change, " ('", way.command, "', ", bytesText(way.bytes), fits ? "" : ", more than memory has free",
                ')');
}

/// What would give more than `now`.
std::vector<std::string> changesOf(const InputSizing& sizing, double now) {
  std::vector<std::string> changes;
  for (const InputWay& way : sizing.ways) {
    if (bestRate(sizing.demand, way) >= (1 + worthwhile) * now) changes.push_back(changeText(sizing, way));
  }
  return changes;
}

}  // namespace

double reachedRate(const InputDemand& demand, const InputWay& way, int64_t producers) {
  const auto ofAnImage = [](double rate) { return 1 / rate; };
  const double compute = ofAnImage(demand.imagesPerSecond), onAll = ofAnImage(way.all.imagesPerSecond);
  if (producers == inTheStep) return 1 / (compute + onAll);
  const auto madeBy = [&](int64_t threads) {
    const bool all = threads >= demand.cores;
    return all ? onAll : std::max(onAll, ofAnImage(static_cast<double>(threads) * way.one.imagesPerSecond));
  };
  const double made = madeBy(producers * demand.devices);
  if (!demand.sharesCores) return 1 / std::max(compute, made);
  return 1 / std::min(compute + madeBy(demand.devices), 2 * compute + made);
}

int64_t bestProducers(const InputDemand& demand, const InputWay& way) {
  constexpr double nearly = 0.99;
  const int64_t most = (demand.cores + demand.devices - 1) / demand.devices;
  double best = reachedRate(demand, way, inTheStep);
  for (int64_t producers = 1; producers <= most; ++producers) {
    best = std::max(best, reachedRate(demand, way, producers));
  }
  for (int64_t producers = 1; producers <= most; ++producers) {
    if (reachedRate(demand, way, producers) >= nearly * best) return producers;
  }
  return inTheStep;
}

std::string feedText(int64_t producers) {
  if (producers != inTheStep) return concat("--producers=", producers);
  return concat("--input=", std::ranges::find_if(sources(), makesInTheStep)->name);
}

bool makesInTheStep(const SourceEntry& source) { return source.realData && !source.queued; }

std::string rateText(double imagesPerSecond) { return fixed(imagesPerSecond, imagesPerSecond < 100 ? 2 : 0); }

double coresPerDevice(const InputDemand& demand, const InputWay& way) {
  return demand.imagesPerSecond / static_cast<double>(demand.devices) / way.one.imagesPerSecond;
}

std::string adviceText(const InputSizing& sizing) {
  const double taken = sizing.demand.imagesPerSecond;
  const double reached = reachedRate(sizing.demand, sizing.ways.front(), sizing.producers);
  const std::string rates = concat(rateText(reached), " of the ", rateText(taken), " images/s that the devices take");
  if (reached >= (1 - worthwhile) * taken) return concat("loading hardly limits training: it reaches ", rates);
  const auto changes = changesOf(sizing, reached);
  return concat("loading limits training to ", rates, "; ",
                changes.empty()
                    ? "nothing that was measured would give 5 % more: that takes more cores for each device, "
                      "smaller images or fewer changes of them"
                    : join(changes, "; "));
}

Config withoutLoading(const RunPlan& plan) {
  Config config = plan.config;
  config.input = Config().input;
  config.input.source = repeatingSource().name;
  config.inference = Config().inference;
  config.measurement.verify = withoutVerification().name;
  config.measurement.repeats = 1;
  return resolvePlan(config).config;
}

InputDemand demandOf(const RunPlan& plan) {
  InputDemand demand{.devices = plan.config.placement.replicas, .sharesCores = plan.setup.onCpu()};
  const auto usable = std::ssize(readTopology().cores);
  demand.cores = demand.sharesCores ? std::min<int64_t>(usable, demand.devices * plan.cores.threadsPerReplica) : usable;
  return demand;
}

std::vector<InputWay> measureInput(const RunPlan& plan, const InputDemand& demand, Nanos length) {
  const auto metered = waysOf(plan);
  const Nanos turn = length / (2 * rounds * std::ssize(metered));
  for (int round = 0; round < rounds; ++round) {
    for (const auto& each : metered) {
      each->one.push_back(each->meter.measure(1, turn));
      each->all.push_back(each->meter.measure(demand.cores, turn));
    }
  }
  std::vector<InputWay> ways;
  for (const auto& each : metered) {
    each->way.one = middle(each->one), each->way.all = middle(each->all);
    ways.push_back(std::move(each->way));
  }
  return ways;
}

}  // namespace tandem
