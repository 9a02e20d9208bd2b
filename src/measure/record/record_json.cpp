#include "measure/record/record_json.h"

#include <array>
#include <limits>

#include "config/config_json.h"
#include "measure/record/json_fields.h"
#include "measure/record/record_checks.h"
#include "measure/record/training_json.h"

namespace tandem {

template <class Archive>
void describe(Archive& archive, typename Archive::template Ref<GpuLink> link) {
  archive.field("a", link.a);
  archive.field("b", link.b);
  archive.field("path", link.path);
  archive.field("peer_access", link.access);
  archive.field("peer_atomics", link.atomics);
}

template <class Archive>
void describe(Archive& archive, typename Archive::template Ref<GpuSlot> slot) {
  archive.measured("generation", slot.generation);
  archive.measured("lanes", slot.lanes);
  archive.measured("largest_generation", slot.largestGeneration);
  archive.measured("most_lanes", slot.mostLanes);
}

template <class Archive>
void describe(Archive& archive, typename Archive::template Ref<Environment> environment) {
  archive.field("host", environment.host);
  archive.field("os", environment.os);
  archive.field("kernel", environment.kernel);
  archive.field("cpu", environment.cpu);
  archive.measured("cores", environment.cores);
  archive.measured("hardware_threads", environment.hardwareThreads);
  archive.measured("numa_nodes", environment.numaNodes);
  archive.measured("sockets", environment.sockets);
  archive.field("caches", environment.caches);
  archive.field("cpu_features", environment.cpuFeatures);
  archive.measured("memory_bytes", environment.memoryBytes);
  archive.measured("memory_available_bytes", environment.memoryAvailableBytes);
  archive.measured("load1", environment.load1, -1.0);
  archive.field("governor", environment.governor);
  archive.field("devices", environment.devices);
  archive.field("libraries", environment.libraries);
  archive.field("variables", environment.variables);
  archive.field("tandem_version", environment.tandemVersion);
  archive.field("commit", environment.commit);
  archive.field("dirty", environment.dirty);
  archive.addedObjects("gpu_links", environment.gpuLinks);
  archive.addedObjects("gpu_slots", environment.gpuSlots);
}

template <class Archive>
void describe(Archive& archive, typename Archive::template Ref<ActualSetup> placement) {
  archive.field("replicas", placement.replicas);
  archive.added("shares", placement.shares);
  archive.field("threads_per_replica", placement.threadsPerReplica);
  archive.field("shared_cores", placement.sharedCores);
  archive.field("control", placement.control);
  archive.field("all_reduce", placement.allReduce);
  archive.added("update", placement.update);
  archive.added("exchange_memory", placement.exchangeMemory);
  archive.added("link", placement.link);
  archive.field("layout", placement.layout);
  archive.added("graph", placement.cudaGraph);
  archive.added("data", placement.data);
  archive.added("data_images", placement.dataImages);
  archive.added("augment", placement.augment);
  archive.added("image_mean", placement.imageMean);
  archive.added("image_deviation", placement.imageDeviation);
  archive.field("loss", placement.loss);
  archive.field("network", placement.network);
  archive.field("network_sha256", placement.networkSha256);
  archive.field("convolution_passes", placement.convolutionPasses);
  archive.added("kernels", placement.kernels);
  archive.added("zero_channels", placement.zeroChannels, int64_t{-1});
  archive.field("by_autograd", placement.byAutograd);
  archive.measured("activation_bytes", placement.activationBytes);
  archive.measured("parameters", placement.parameters);
  archive.measured("forward_flops_per_image", placement.forwardFlopsPerImage);
  archive.added("own_image_size", placement.ownImageSize);
  archive.added("flops_per_image", placement.flopsPerImage);
  archive.added("bytes_per_step", placement.bytesPerStep);
}

template <class Archive>
void describe(Archive& archive, typename Archive::template Ref<Warmup> warmup) {
  archive.field("steps", warmup.steps);
  archive.field("wall_ns", warmup.wall);
  archive.field("steady", warmup.steady);
}

template <class Archive>
void describe(Archive& archive, typename Archive::template Ref<Traffic> traffic) {
  archive.field("bytes_per_step", traffic.bytesPerStep);
  archive.field("messages_per_step", traffic.messagesPerStep);
  archive.added("bytes_between_ranks", traffic.bytesBetweenRanks, -1.0);
}

template <class Archive>
void describe(Archive& archive, typename Archive::template Ref<StalenessRecord> staleness) {
  archive.field("updates", staleness.updates);
  archive.field("mean", staleness.mean);
  archive.field("max", staleness.most);
}

template <class Archive>
void describe(Archive& archive, typename Archive::template Ref<std::vector<StepSample>> steps) {
  archive.column("replica", steps, &StepSample::replica);
  archive.column("wall_ns", steps, &StepSample::wall);
  archive.column("input_ns", steps, &StepSample::input);
  archive.column("compute_ns", steps, &StepSample::compute);
  archive.column("exposed_comm_ns", steps, &StepSample::exposedComm);
}

template <class Archive>
void describe(Archive& archive, typename Archive::template Ref<Interference> interference) {
  archive.field("signs", interference.signs);
  archive.field("reasons", interference.reasons);
}

template <class Archive>
void describe(Archive& archive, typename Archive::template Ref<TelemetrySeries> series) {
  archive.field("device", series.device);
  archive.field("quantity", series.quantity);
  archive.field("unit", series.unit);
  archive.field("values", series.values);
}

template <class Archive>
void describe(Archive& archive, typename Archive::template Ref<TelemetryPhase> phase) {
  archive.field("name", phase.name);
  archive.field("begin_ns", phase.begin);
}

template <class Archive>
void describe(Archive& archive, typename Archive::template Ref<Telemetry> telemetry) {
  archive.field("at_ns", telemetry.at);
  archive.objects("series", telemetry.series);
  archive.objects("phases", telemetry.phases);
  archive.field("cpu_ns", telemetry.cpu);
}

template <class Archive>
void describe(Archive& archive, typename Archive::template Ref<ReplicaProfile> replica) {
  archive.column("step", replica.steps, &StepParts::step);
  archive.column("begin_ns", replica.steps, &StepParts::begin);
  archive.column("arrival_ns", replica.steps, &StepParts::arrival);
  archive.column("wall_ns", replica.steps, &StepParts::wall);
  for (const Part& part : stepParts()) {
    const std::string name = concat(part.name, "_ns");
    if (part.added) {
      archive.addedColumn(name.c_str(), replica.steps, part.time);
    } else {
      archive.column(name.c_str(), replica.steps, part.time);
    }
  }
}

template <class Archive>
void describe(Archive& archive, typename Archive::template Ref<ExchangeArrivals> exchange) {
  archive.field("bytes", exchange.bytes);
  archive.field("apart_ns", exchange.apart);
  archive.field("after_ns", exchange.after);
  archive.field("last", exchange.last);
}

template <class Archive>
void describe(Archive& archive, typename Archive::template Ref<WorkGroup> group) {
  archive.field("name", group.name);
  archive.field("operations", group.operations);
  archive.field("calls", group.calls);
  archive.field("time_ns", group.time);
  archive.field("known_ns", group.knownTime);
  archive.field("flops", group.flops);
  archive.field("bytes", group.bytes);
}

template <class Archive>
void describe(Archive& archive, typename Archive::template Ref<DeviceGap> gap) {
  archive.field("after", gap.after);
  archive.field("before", gap.before);
  archive.field("count", gap.count);
  archive.field("total_ns", gap.total);
  archive.field("longest_ns", gap.longest);
}

template <class Archive>
void describe(Archive& archive, typename Archive::template Ref<GpuTimeline> steps) {
  archive.field("device", steps.device);
  archive.field("steps", steps.steps);
  archive.field("wall_ns", steps.wall);
  archive.field("busy_ns", steps.busy);
  archive.objects("kernels", steps.kernels);
  archive.objects("operations", steps.operations);
  archive.objects("gaps", steps.gaps);
}

template <class Archive>
void describe(Archive& archive, typename Archive::template Ref<DeviceProfile> profile) {
  archive.field("missing", profile.missing);
  archive.field("lost", profile.lost);
  archive.measured("peak_flops_per_s", profile.flopsPeak);
  archive.measured("peak_bytes_per_s", profile.bytesPeak);
  archive.objects("devices", profile.devices);
}

template <class Archive>
void describe(Archive& archive, typename Archive::template Ref<HostTimeline> host) {
  archive.field("steps", host.steps);
  archive.field("wall_ns", host.wall);
  archive.objects("calls", host.calls);
}

template <class Archive>
void describe(Archive& archive, typename Archive::template Ref<Profile> profile) {
  archive.field("every", profile.every);
  archive.field("lost_steps", profile.lostSteps);
  archive.field("input_bytes", profile.inputBytes);
  archive.field("gradient_bytes", profile.gradientBytes);
  archive.added("clock_error_ns", profile.clockError);
  archive.objects("replicas", profile.replicas);
  archive.addedObjects("exchanges", profile.exchanges);
  archive.optional("device", profile.device);
  archive.optional("host", profile.host);
}

template <class Archive>
void describe(Archive& archive, typename Archive::template Ref<BatchSearch> search) {
  archive.field("probes", search.probes);
  archive.measured("available_bytes", search.availableBytes);
  archive.measured("limit_bytes", search.limitBytes);
  archive.measured("peak_bytes", search.peakBytes);
  archive.measured("too_large", search.tooLarge);
  archive.field("stopped_by", search.stoppedBy);
}

template <class Archive>
void describe(Archive& archive, typename Archive::template Ref<ChangeError> error) {
  constexpr double infinite = std::numeric_limits<double>::infinity();  // JSON has no such number
  archive.measured("whole", error.whole, infinite);
  archive.measured("worst", error.worst, infinite);
  archive.field("where", error.where);
}

template <class Archive>
void describe(Archive& archive, typename Archive::template Ref<PlainError> plain) {
  archive.field("precision", plain.precision);
  archive.object("error", plain.error);
}

template <class Archive>
void describe(Archive& archive, typename Archive::template Ref<EqualityStamp> stamp) {
  archive.field("reason", stamp.reason);
  archive.field("steps", stamp.steps);
  archive.object("error", stamp.error);
  archive.objects("plain", stamp.plain);
  archive.measured("difference_of_replicas", stamp.differenceOfReplicas, -1.0);
  archive.field("bit_equal", stamp.bitEqual);
  archive.field("seconds", stamp.seconds);
  archive.field("expected_seconds", stamp.expectedSeconds);
}

template <class Archive>
void describe(Archive& archive, typename Archive::template Ref<HostRecord> host) {
  archive.object("environment", host.environment);
  archive.field("replicas", host.replicas);
  archive.measured("peak_memory_bytes", host.peakMemoryBytes);
  archive.measured("peak_flops_per_s", host.flopsPeak);
  archive.measured("peak_bytes_per_s", host.bytesPeak);
  archive.measured("energy_joules", host.energyJoules);
  archive.object("interference", host.interference);
  archive.object("telemetry", host.telemetry);
}

/// Describes a record except schema, configuration and outcome, which have forms of their own.
template <class Archive>
void describe(Archive& archive, typename Archive::template Ref<RunRecord> record) {
  archive.field("time", record.time);
  archive.added("sweep", record.sweep);
  archive.added("round", record.round);
  archive.added("side", record.side);
  archive.object("environment", record.environment);
  archive.object("placement", record.placement);
  archive.object("warmup", record.warmup);
  archive.object("samples", record.steps);
  archive.field("losses", record.losses);
  archive.measured("startup_ns", record.startup);
  archive.measured("window_ns", record.window);
  archive.measured("wall_ns", record.wall);
  archive.measured("global_batch", record.globalBatch);
  archive.field("measured_steps", record.measuredSteps);
  archive.field("minor_faults", record.minorFaults);
  archive.measured("peak_memory_bytes", record.peakMemoryBytes);
  archive.added("peak_reserved_bytes", record.peakReservedBytes);
  archive.object("traffic", record.traffic);
  archive.optional("staleness", record.staleness);
  archive.added("skipped_steps", record.skippedSteps, int64_t{-1});
  archive.added("loss_scale", record.lossScale);
  archive.added("peak_flops_per_s", record.flopsPeak);
  archive.added("peak_bytes_per_s", record.bytesPeak);
  archive.measured("energy_joules", record.energyJoules);
  archive.object("interference", record.interference);
  archive.object("telemetry", record.telemetry);
  archive.addedObjects("other_hosts", record.otherHosts);
  archive.optional("searched_batch", record.batchSearch);
  archive.optional("equality", record.equality);
  archive.optional("training", record.training);
  archive.optional("profile", record.profile);
  archive.field("notes", record.notes);
}

namespace {

constexpr std::array outcomeNames{"ok", "skipped", "failed"};  // in the order of OutcomeKind

constexpr std::array exitCodes{ExitCode::ok,         ExitCode::usage,           ExitCode::data,
                               ExitCode::checkpoint, ExitCode::rendezvous,      ExitCode::peer,
                               ExitCode::numeric,    ExitCode::storage,         ExitCode::invalidMeasurement,
                               ExitCode::internal,   ExitCode::stoppedAndSaved, ExitCode::interrupted};

nlohmann::json outcomeToJson(const Outcome& outcome) {
  return {{"kind", outcomeNames[static_cast<size_t>(outcome.kind)]},
          {"code", nameOf(outcome.code)},
          {"reason", asUtf8(outcome.reason)},
          {"out_of_memory", outcome.outOfMemory}};
}

OutcomeKind outcomeKindOf(const std::string& name) {
  for (size_t i = 0; i < outcomeNames.size(); ++i) {
    if (name == outcomeNames[i]) return static_cast<OutcomeKind>(i);
  }
  throw DataError("record member 'outcome.kind' is '" + name + "', expected ok, skipped or failed");
}

ExitCode exitCodeNamed(const std::string& name) {
  for (const ExitCode code : exitCodes) {
    if (name == nameOf(code)) return code;
  }
  throw DataError("record member 'outcome.code' is '" + name + "', which names no exit code");
}

Outcome outcomeFromJson(const nlohmann::json& stored) {
  const JsonReader reader(stored, "outcome");
  std::string kind, code;
  Outcome outcome;
  reader.field("kind", kind);
  reader.field("code", code);
  reader.field("reason", outcome.reason);
  reader.added("out_of_memory", outcome.outOfMemory);
  outcome.kind = outcomeKindOf(kind);
  outcome.code = exitCodeNamed(code);
  return outcome;
}

void checkSchema(int schema) {
  if (schema < 1 || schema > RunRecord::currentSchema) {
    throw DataError(concat("record member 'schema' is ", schema, ", this program reads 1 to ", RunRecord::currentSchema,
                           "; read the file with the program that wrote it"));
  }
}

}  // namespace

nlohmann::json toJson(const RunRecord& record) {
  JsonWriter writer;
  describe(writer, record);
  writer.field("schema", record.schema);
  writer.raw("config", toJson(record.config));
  writer.raw("outcome", outcomeToJson(record.outcome));
  return writer.take();
}

RunRecord recordFromJson(const nlohmann::json& stored) {
  JsonReader reader(stored, "");
  RunRecord record;
  reader.field("schema", record.schema);
  checkSchema(record.schema);
  describe(reader, record);
  record.config = configFromJson(reader.at("config"));
  record.outcome = outcomeFromJson(reader.at("outcome"));
  checkParts(record);
  return record;
}

}  // namespace tandem
