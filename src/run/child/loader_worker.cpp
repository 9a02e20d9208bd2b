#include "run/child/loader_worker.h"

#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "config/config_json.h"
#include "config/modes.h"
#include "data/stream/loader_child.h"
#include "data/stream/streamed_batches.h"
#include "device/allocator/cpu_allocator.h"
#include "device/device.h"
#include "machine/process/child_output.h"
#include "machine/process/resource_limits.h"

namespace tandem {

using nlohmann::json;

namespace {

/// That of a process, which makes its batches itself and has a share of what is kept in memory.
Config configOfWorker(const RunPlan& plan) {
  Config config = plan.config;
  config.input.loader = loaders().front().name;
  config.input.cacheGib /=
      static_cast<double>(plan.place.localSize * config.placement.replicas * config.input.producers);
  return config;
}

ChildOptions childOptions(const LoaderOrder& order, const std::string& executable) {
  return {.executable = executable,
          .arguments = {"loader-worker"},
          .environment = workerEnvironment(),
          .input = toText(order)};
}

/// A message that is none can only be due to a bug, and ends the run.
StreamedForm formOf(const RunPlan& plan, const BatchMaker& maker) {
  const DatasetInfo& info = maker.dataset().info();
  return {.stream = std::string(plan.setup.source->name),
          .origin = maker.origin(),
          .shape = {maker.plan().count, maker.plan().height, maker.plan().width, info.classes},
          .labels = info.labels,
          .normalization = info.normalization,
          .timeoutSeconds = plan.config.exchange.timeout,
          .mostDropped = 0};
}

[[noreturn]] void makeBatches(const LoaderOrder& order, const LoaderChild& child) {
  Device::cpu(0, order.hardwareThreads, 1).bindHelper();
  const RunPlan plan = planOfBatches(order.config, order.shares, order.images);
  TrainingData data = trainingData(plan);
  if (data.bad) LoaderChild::tell(*data.bad);
  data.images = child.watched(data.images);
  const auto maker = batchMaker(plan, order.replica, order.count, data);
  std::function<KeptSamples()> kept;
  if (data.cache) kept = [&] { return data.cache->kept(); };
  child.run(*maker, kept);
}

}  // namespace

std::string toText(const LoaderOrder& order) {
  return json{
      {"config", toJson(order.config)},       {"images", order.images},   {"shares", order.shares},
      {"of-replica", order.replica},          {"count", order.count},     {"hardware-threads", order.hardwareThreads},
      {"first", order.share.first},           {"step", order.share.step}, {"slot-bytes", order.share.slotBytes},
      {"passed-over", order.share.passedOver}}
      .dump();
}

LoaderOrder loaderOrderFrom(const std::string& text) {
  try {
    const auto object = json::parse(text);
    return {.config = configFromJson(object.at("config")),
            .images = object.at("images"),
            .shares = object.at("shares"),
            .replica = object.at("of-replica"),
            .count = object.at("count"),
            .hardwareThreads = object.at("hardware-threads"),
            .share = {.first = object.at("first"),
                      .step = object.at("step"),
                      .slotBytes = object.at("slot-bytes"),
                      .passedOver = object.at("passed-over")}};
  } catch (const std::exception& failure) {
    throw UsageError(concat("loader-worker: standard input is no order of 'tandem bench' (", failure.what(),
                            "); use 'tandem bench --loader=processes'"));
  }
}

std::unique_ptr<HostBatches> batchesByProcesses(const RunPlan& plan, int64_t replica, int64_t count,
                                                const TrainingData& data, const std::string& executable) {
  const Config& config = plan.config;
  const int64_t among = plan.place.rank * config.placement.replicas + replica;
  const auto maker = batchMaker(plan, among, count, data);
  const LoaderOrder order{.config = configOfWorker(plan),
                          .images = data.images->size(),
                          .shares = plan.shares,
                          .replica = among,
                          .count = count,
                          .hardwareThreads = threadsOfReplica(plan, replica),
                          .share = {}};
  const LoaderStreamOptions options{.workers = config.input.producers,
                                    .firstBatch = plan.firstBatch,
                                    .slotBytes = std::ssize(messageOf(maker->allocate())),
                                    .child =
                                        [order, executable](const LoaderShare& share) {
                                          LoaderOrder own = order;
                                          own.share = share;
                                          return childOptions(own, executable);
                                        },
                                    .images = data.images,
                                    .bad = data.bad,
                                    .feeders = data.feeders,
                                    .caches = data.caches,
                                    .firstCache = replica * config.input.producers};
  return dealtTo(
      0, std::make_shared<DealtFrames>(openLoaderStream(options), formOf(plan, *maker), /*replicas=*/1, /*waiting=*/1));
}

int runLoaderWorker() {
  installCpuAllocator();
  requireParent("loader-worker", "tandem bench --loader=processes");
  const LoaderOrder order =
      loaderOrderFrom({std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()});
  const LoaderChild child(order.share);
  try {
    makeBatches(order, child);
  } catch (const std::exception& failure) {
    const Error known = explained(failure);
    LoaderChild::fail(known);
    return static_cast<int>(known.code());
  }
}

}  // namespace tandem
