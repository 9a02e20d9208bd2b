#include <algorithm>
#include <array>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/catalogs.h"
#include "cli/data/data_commands.h"
#include "cli/progress_line.h"
#include "cli/stop_on_signal.h"
#include "cli/table.h"
#include "config/command_line.h"
#include "config/device_set.h"
#include "machine/process/child_process.h"
#include "machine/process/thread_limit.h"
#include "measure/metrics/metric.h"
#include "measure/validity/consistency_checks.h"
#include "run/child/point_runner.h"
#include "run/input_sizing.h"
#include "run/plan/thread_count.h"

namespace tandem {
namespace {

constexpr double standardBudget = 10;

/// Options that are no facts of a rate, and of use here nevertheless.
constexpr std::array<std::string_view, 6> ofUse{"budget",        "bad-image",      "max-bad",
                                                "normalization", "kernel-seconds", "refresh-kernels"};

constexpr std::string_view name = "tandem data size";

struct Request {
  RunPlan plan;
  bool json = false;
};

/// Refuses options of bench that would do nothing: how often and how long it measures, and what it writes.
void checkOptions(const Sweep& typed) {
  for (const std::string& given : typed.given) {
    const Option& option = *findOption(given);
    const bool isFact = option.varies != Variation::none && option.varies != Variation::measuring;
    if (isFact || std::ranges::find(ofUse, given) != ofUse.end()) continue;
    throw UsageError(concat(name, ": --", given, " says how bench measures or what it writes; leave it out"));
  }
}

void checkConfig(const Sweep& typed) {
  if (!typed.axes.empty()) {
    throw UsageError(concat(name, " takes one value of --", typed.axes.front().option->name, ", not a list"));
  }
  const Config& config = typed.base;
  if (config.step.batch == Config::mostThatFits) {
    throw UsageError(concat(name, " takes a number of images: --batch=max is for tandem bench, which tries"));
  }
  if (config.step.loaderOnly)
    throw UsageError(concat(name,
                            ": --loader-only leaves out the network that loading is "
                            "measured against; leave it out"));
  if (processCount(config) > 1) {
    throw UsageError(concat(name, " measures what one process loads; leave --ranks and --servers out"));
  }
}

/// Of batches that this process makes of images.
void checkSource(const RunPlan& plan) {
  if (!plan.data) throw UsageError(concat(name, " needs a data set that can be read; its path comes first"));
  if (plan.setup.loader->byProcesses)
    throw UsageError(concat(name, " measures threads; leave --loader=", plan.setup.loader->name, " out"));
}

Request requestOf(Arguments arguments) {
  if (arguments.empty() || arguments.front().starts_with("-")) {
    throw UsageError(concat(name, " needs the path of a data set first; see 'tandem data --help'"));
  }
  Request request;
  std::vector<std::string> ofBench{"--data=" + arguments.front()};
  for (const std::string& typed : arguments.subspan(1)) {
    if (typed == "--json") {
      request.json = true;
    } else {
      ofBench.push_back(typed);
    }
  }
  Sweep typed = parseArguments("bench", ofBench, catalogNames());
  std::erase(typed.given, "data");
  checkOptions(typed);
  checkConfig(typed);
  for (const auto& note : typed.notes) logInfo(concat("note: ", note));
  if (!typed.has("budget")) typed.base.measurement.budget = standardBudget;
  request.plan = resolvePlan(typed.base);
  checkSource(request.plan);
  if (const std::string note = standInNote(request.plan); !note.empty()) logInfo(concat("note: ", note));
  checkMemory(request.plan);
  requireThreads(threadsOf(request.plan));
  return request;
}

/// images/s of the plan's devices with images that are there already.
double computeRate(const RunPlan& plan) {
  ProgressLine line;
  const StopOnSignal stop;
  const Config config = withoutLoading(plan);
  const RunRecord record =
      PointRunner(ownExecutable)
          .run(config, {.deadlineSeconds = deadlineSeconds(config)},
               {.progress = [&](const Progress& state) { line.show("the devices alone", state); }});
  line.clear();
  if (record.outcome.kind != OutcomeKind::ok) throw Error(record.outcome.code, record.outcome.reason);
  if (!isQuotable(record)) logWarning(concat("the devices' rate is disturbed: ", whyNotQuotable(record)));
  return metric("images_per_s").of(record, nullptr).value();
}

InputSizing sizingOf(const RunPlan& plan) {
  InputSizing sizing{.demand = demandOf(plan),
                     .producers = makesInTheStep(*plan.setup.source) ? inTheStep : plan.config.input.producers,
                     .images = plan.data->images,
                     .memoryBytes = Device::cpu(0, {}, 1).availableBytes()};
  sizing.demand.imagesPerSecond = computeRate(plan);
  const double length = plan.config.measurement.budget;
  sizing.ways =
      measureInput(plan, sizing.demand, std::chrono::duration_cast<Nanos>(std::chrono::duration<double>(length)));
  return sizing;
}

std::string milliseconds(double time) { return time > 0 ? fixed(1e3 * time, 3) : ""; }

std::string coresText(int64_t cores) { return concat(cores, cores == 1 ? " core" : " cores"); }

void printFacts(const RunPlan& plan, const InputSizing& sizing) {
  const InputDemand& demand = sizing.demand;
  std::vector<std::string> labels = plan.deviceLabels;
  printTable({{"data set", concat(plan.data->info.name, ", ", sizing.images, " images")},
              {"network", concat(plan.config.network.model, ", ", plan.config.network.imageSize, " pixels, batch ",
                                 plan.replicaBatch, ", --augment=", plan.config.input.augment)},
              {"devices", join(labels, ", ")},
              {"they take", concat(rateText(demand.imagesPerSecond), " images/s without loading")}},
             2);
}

void printWays(const InputSizing& sizing) {
  const InputDemand& demand = sizing.demand;
  std::vector<std::vector<std::string>> rows{{"images/s", "on 1 core", concat("on ", coresText(demand.cores)),
                                              "read ms", "decode ms", "transform ms", "normalise ms",
                                              "cores per device", "by", "training reaches"}};
  for (const InputWay& way : sizing.ways) {
    const int64_t producers = bestProducers(demand, way);
    rows.push_back({way.name, rateText(way.one.imagesPerSecond), rateText(way.all.imagesPerSecond),
                    milliseconds(way.one.read), milliseconds(way.one.decode), milliseconds(way.one.transform()),
                    milliseconds(way.one.normalize), fixed(coresPerDevice(demand, way), 2), feedText(producers),
                    rateText(reachedRate(demand, way, producers))});
  }
  printTable(rows, 1);
}

nlohmann::ordered_json jsonOf(const LoaderRate& rate) {
  return {{"images_per_second", rate.imagesPerSecond},
          {"image_s", rate.image},
          {"read_s", rate.read},
          {"decode_s", rate.decode},
          {"transform_s", rate.transform()},
          {"normalize_s", rate.normalize}};
}

void printJson(const RunPlan& plan, const InputSizing& sizing) {
  using nlohmann::ordered_json;
  const InputDemand& demand = sizing.demand;
  auto ways = ordered_json::array();
  for (const InputWay& way : sizing.ways) {
    const int64_t producers = bestProducers(demand, way);
    ordered_json row{{"name", way.name},
                     {"one_core", jsonOf(way.one)},
                     {"all_cores", jsonOf(way.all)},
                     {"cores_per_device", coresPerDevice(demand, way)},
                     {"by", feedText(producers)},
                     {"training_images_per_second", reachedRate(demand, way, producers)}};
    if (!way.command.empty()) row["command"] = way.command, row["bytes"] = way.bytes;
    ways.push_back(std::move(row));
  }
  const ordered_json object{{"data", plan.config.input.data},
                            {"images", sizing.images},
                            {"model", plan.config.network.model},
                            {"batch", plan.replicaBatch},
                            {"augment", plan.config.input.augment},
                            {"devices", plan.deviceLabels},
                            {"cores", demand.cores},
                            {"devices_are_these_cores", demand.sharesCores},
                            {"devices_images_per_second", demand.imagesPerSecond},
                            {"by", feedText(sizing.producers)},
                            {"training_images_per_second", reachedRate(demand, sizing.ways.front(), sizing.producers)},
                            {"ways", std::move(ways)},
                            {"advice", adviceText(sizing)}};
  std::cout << object.dump(2, ' ', false, ordered_json::error_handler_t::replace) << '\n';
}

}  // namespace

int sizeInput(Arguments typed) {
  const Request request = requestOf(typed);
  const InputSizing sizing = sizingOf(request.plan);
  if (request.json) return printJson(request.plan, sizing), 0;
  printFacts(request.plan, sizing);
  std::cout << '\n';
  printWays(sizing);
  std::cout << '\n' << adviceText(sizing) << '\n';
  return 0;
}

std::string sizeHelp() {
  return "  --json                    print one JSON object\n"
         "  --budget=X                seconds to measure the devices, and again the loading (default 10)\n"
         "  Other options are those of bench that say what is trained, on what and of which images.\n";
}

}  // namespace tandem
