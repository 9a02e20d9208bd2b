#pragma once

#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "measure/record/record.h"

namespace tandem {

inline Nanos millis(double count) { return Nanos(std::llround(count * 1e6)); }

/// `steps` steps of every replica; step i of replica r lasts stepMs + i % 3 - 1 + r milliseconds, with 1/10 input wait
/// and 2/10 exchange.
inline std::vector<StepSample> exampleSteps(int64_t replicas, int64_t steps, double stepMs) {
  std::vector<StepSample> samples;
  for (int64_t step = 0; step < steps; ++step) {
    for (int replica = 0; replica < replicas; ++replica) {
      const double wall = stepMs + static_cast<double>(step % 3 - 1) + replica;
      samples.push_back({replica, millis(wall), millis(0.1 * wall), millis(0.7 * wall), millis(0.2 * wall)});
    }
  }
  return samples;
}

/// An ok run of 30 steps on the CPU, batch 16: globalBatch / (stepMs + replicas - 1) images per millisecond.
inline RunRecord exampleRecord(int64_t replicas, const std::string& strategy, double stepMs) {
  RunRecord record;
  record.time = "2026-01-02T03:04:05Z";
  record.environment.host = "box";
  record.config.placement.replicas = replicas;
  record.config.exchange.strategy = strategy;
  record.config.placement.coresPerReplica = 1;
  record.placement.replicas.assign(static_cast<size_t>(replicas), "cpu core");
  record.placement.parameters = 25557032;
  record.placement.forwardFlopsPerImage = 8.2e9;
  record.warmup = {6, millis(6 * stepMs), true};
  record.measuredSteps = 30;
  record.globalBatch = 16 * replicas;
  record.steps = exampleSteps(replicas, record.measuredSteps, stepMs);
  record.window = millis(30 * (stepMs + static_cast<double>(replicas) - 1));
  record.startup = millis(500);
  record.wall = record.startup + record.warmup.wall + record.window;
  record.interference.signs["cpu_pressure"] = 1;  // a quiet machine, in windows of any length
  record.peakMemoryBytes = int64_t{900} << 20;
  record.traffic.bytesPerStep = 1024.0 * 1024 * 3;
  for (int i = 0; i < 36; ++i) record.losses.push_back(7 - 0.1 * i);
  return record;
}

/// The same run with only its first steps.
inline RunRecord shortened(RunRecord record, int64_t steps) {
  record.window = record.window * steps / record.measuredSteps;
  record.measuredSteps = steps;
  record.steps.resize(static_cast<size_t>(steps * record.config.placement.replicas));
  record.losses.resize(static_cast<size_t>(record.warmup.steps + steps));
  return record;
}

inline RunRecord failedRecord(int64_t replicas, ExitCode code, const std::string& reason) {
  RunRecord record;
  record.environment.host = "box";
  record.config.placement.replicas = replicas;
  record.config.placement.coresPerReplica = 1;
  record.outcome = {OutcomeKind::failed, code, reason};
  return record;
}

inline DeviceProfile fullDeviceProfile() {
  GpuTimeline steps{.device = 1, .steps = 3, .wall = millis(120), .busy = millis(118.8)};
  steps.kernels = {{"wgrad<float>", {"conv backward"}, 30, millis(60), millis(59), 1e12 / 3, 2e9},
                   {"copy from host to device", {}, 3, millis(1), millis(1), 0, 77e6}};
  steps.operations = {{"conv backward", {"conv backward"}, 90, millis(70), millis(70), 4e12 / 3, 3e9}};
  steps.gaps = {{"wgrad<float>", "copy from host to device", 3, millis(1.2), millis(0.5)}};
  return {.missing = "CUPTI is silent", .lost = 4, .flopsPeak = 9.9e14, .bytesPeak = 3.35e12, .devices = {steps}};
}

inline ActualSetup fullPlacement() {
  ActualSetup placement = exampleRecord(2, "parameter_server", 100).placement;
  placement.shares = {24, 8};
  placement.threadsPerReplica = 4;
  placement.sharedCores = true;
  placement.control = true;
  placement.allReduce = "ring";
  placement.exchangeMemory = "registered with NCCL";
  placement.link = "PIX";
  placement.update = "local_sgd";
  placement.layout = "blocked";
  placement.cudaGraph = "on";
  placement.data = "cifar10", placement.dataImages = 50000;
  placement.augment = "crop";
  placement.imageMean = {125.3, 122.9, 113.8}, placement.imageDeviation = {63.0, 62.1, 200.0 / 3};
  placement.loss = "binary_cross_entropy";
  placement.network = "mynet";
  placement.networkSha256 = "00ff";
  placement.convolutionPasses = {{"direct", 7}, {"winograd", 3}};
  placement.kernels = "convolutions run in blocked";
  placement.zeroChannels = 5;
  placement.activationBytes = 3 << 20;
  placement.byAutograd = {"max_pool", "dropout"};
  placement.forwardFlopsPerImage = 8.178e9 + 1.0 / 3;
  placement.ownImageSize = 224;
  placement.flopsPerImage = 24.3e9;
  placement.bytesPerStep = 5e9;
  return placement;
}

inline EqualityStamp fullStamp() {
  return {.reason = "none",
          .steps = 2,
          .error = {1e-3 / 3, 0.5, "conv1.weight"},
          .plain = {{"fp32", {1e-6 / 3, 2e-5, "fc.bias"}}, {"bf16", {0.02, 0.1, "bn1.bias"}}},
          .differenceOfReplicas = 1e-9,
          .bitEqual = true,
          .seconds = 0.25,
          .expectedSeconds = 0.5};
}

inline Profile fullProfile() {
  Profile profile{.every = 2, .lostSteps = 1, .inputBytes = 3 << 20, .gradientBytes = 5 << 20, .replicas = {}};
  for (int replica = 0; replica < 2; ++replica) {
    auto& steps = profile.replicas.emplace_back().steps;
    steps = {{.step = 2, .begin = millis(1), .wall = millis(90)}, {.step = 4, .begin = millis(2), .wall = millis(91)}};
    steps.back().arrival = millis(70);
    for (const Part& part : stepParts()) steps.back().*part.time = millis(0.1 + replica);
  }
  profile.clockError = Nanos(250);
  profile.exchanges = {{.bytes = 1 << 20, .apart = millis(2), .after = {millis(50), millis(52)}, .last = {1, 29}}};
  profile.device = fullDeviceProfile();
  profile.host = HostTimeline{.steps = 60, .wall = millis(5400), .calls = profile.device->devices[0].operations};
  return profile;
}

inline TrainingRecord fullTraining() {
  return {.epochs = 1.0 / 3,
          .steps = 40,
          .images = 1600,
          .classes = {"round", "red"},
          .ended = "max-time",
          .interrupted = true,
          .course = {{1.0 / 7, 30, 2.5, 1e-3 / 3, millis(100), millis(10), millis(4), millis(1), 160},
                     {1.0 / 3, 40, 2.25, 1e-4 / 3, millis(30), millis(10), millis(4), millis(1), 224}},
          .evaluations = {{"validation",
                           1.0 / 7,
                           30,
                           millis(110),
                           millis(10),
                           true,
                           4,
                           0.5,
                           0.75,
                           1,
                           0.8,
                           {0.6, 1},
                           {2, 0, 1, 1},
                           {{3, "a.png", 1, 0, 0.75}}},
                          {.split = "test", .step = 40, .at = millis(160), .wall = millis(3), .images = 9}},
          .resumedAt = 10,
          .changed = "--batch was 32",
          .bestStep = 30,
          .bestMetric = "auc",
          .checkpoints = 2,
          .toTarget = Nanos((int64_t{1} << 53) + 1),
          .wentBack = 1};
}

/// A record whose every member differs from its default, with numbers that only an exact text form keeps.
inline RunRecord fullRecord() {
  RunRecord record = exampleRecord(2, "parameter_server", 100);
  std::tie(record.sweep, record.round, record.side) = std::tuple("2026-01-02T03:04:00Z-77", 2, "B");
  record.environment = {"box",
                        "Debian 12",
                        "6.1.0",
                        "CPU \"model\" \xc3\xbc",
                        8,
                        16,
                        2,
                        2,
                        {"L1d 48 KiB", "L2 2 MiB"},
                        {"avx2", "avx512f"},
                        int64_t{1} << 38,
                        (int64_t{1} << 37) + 1,
                        0.1 + 0.2,
                        "performance",
                        {"NVIDIA H200"},
                        {{"libtorch", "2.11.0"}},
                        {{"OMP_NUM_THREADS", "1"}},
                        "0.1.0",
                        "abc123",
                        true,
                        {{0, 1, "NV4", "yes", "no"}},
                        {{3, 16, 4, 8}}};
  record.config.network.model = "resnet20";
  record.config.step.learningRate = 1.0 / 3;
  record.config.step.nesterov = true;
  record.placement = fullPlacement();
  record.outcome = {OutcomeKind::failed, ExitCode::invalidMeasurement, "line one\nline \"two\"", true};
  record.warmup = {12, Nanos((int64_t{1} << 53) + 1), false};
  record.losses = {6.907755278982137, 5e-324, 1.7976931348623157e308, -0.0};
  record.window = Nanos(std::numeric_limits<int64_t>::max());
  record.minorFaults = 17;
  record.peakReservedBytes = int64_t{950} << 20;
  record.batchSearch = {7, int64_t{9} << 30, int64_t{8} << 30, int64_t{7} << 30, 196, "out of memory"};
  record.traffic = {1e9 / 7, 54, 1e9 / 9};
  record.staleness = {400, 1.0 / 7, 3};
  record.skippedSteps = 3;
  record.lossScale = 8192;
  record.flopsPeak = 5e11, record.bytesPeak = 5e10;
  record.energyJoules = 12.5;
  record.interference = {{{"stall", 2.25}}, {"the process was stopped for 2.25 s"}};
  record.telemetry = {.at = {millis(0), millis(250)},
                      .series = {{"cpu 0", "use", "%", {1.0 / 3, 99}}},
                      .phases = {{"training", millis(100)}},
                      .cpu = millis(0.5)};
  record.otherHosts = {{.environment = record.environment,
                        .replicas = 4,
                        .peakMemoryBytes = 7,
                        .flopsPeak = 3e11,
                        .bytesPeak = 2e10,
                        .energyJoules = 0.5,
                        .interference = {{{"stolen", 1}}, {"stolen"}},
                        .telemetry = record.telemetry}};
  record.equality = fullStamp(), record.training = fullTraining();
  record.profile = fullProfile();
  record.notes = {"fell back to copy", "second"};
  return record;
}

}  // namespace tandem
