#include "measure/metrics/metric.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/catalog.h"
#include "base/statistics.h"
#include "config/device_set.h"
#include "measure/metrics/step_times.h"
#include "measure/metrics/training_metrics.h"
#include "measure/metrics/updates.h"

namespace tandem {
namespace {

using Value = std::optional<double>;

constexpr size_t lossesAtEnd = 20;
constexpr double mebibyte = 1024.0 * 1024.0;

Value quotient(double numerator, double denominator) {
  if (!(denominator > 0)) return {};
  return numerator / denominator;
}

Value percentOf(Value fraction) { return fraction ? Value(100 * *fraction) : Value(); }
Value milliseconds(Value time) { return time ? Value(1e3 * *time) : Value(); }

double imagesOf(const RunRecord& record) {
  return static_cast<double>(record.globalBatch) * static_cast<double>(record.measuredSteps);
}

Value imagesPerSecond(const RunRecord& record, const RunRecord*) {
  if (record.globalBatch <= 0 || record.measuredSteps <= 0) return {};
  return quotient(imagesOf(record), seconds(record.window));
}

Value epochSeconds(const RunRecord& record, const RunRecord*) {
  const auto rate = imagesPerSecond(record, nullptr);
  if (!rate || record.placement.dataImages <= 0) return {};
  return quotient(static_cast<double>(record.placement.dataImages), *rate);
}

Value stepMean(const RunRecord& record, const RunRecord*) { return milliseconds(mean(stepSeconds(record))); }
Value stepMedian(const RunRecord& record, const RunRecord*) { return milliseconds(median(stepSeconds(record))); }
Value stepP95(const RunRecord& record, const RunRecord*) { return milliseconds(percentile(stepSeconds(record), 95)); }

/// Half width of the 95 % interval of the mean step time, divided by that mean.
Value relativeSpread(const RunRecord& record) {
  const auto steps = stepSeconds(record);
  const auto average = estimateMean(steps);
  if (!average) return {};
  const Interval interval = intervalOf(*average, 0.95);
  return quotient((interval.high - interval.low) / 2, average->value);
}

Value spread(const RunRecord& record, const RunRecord*) { return percentOf(relativeSpread(record)); }

Value imagesPerSecondLow(const RunRecord& record, const RunRecord*) {
  const auto rate = imagesPerSecond(record, nullptr);
  const auto wide = relativeSpread(record);
  if (!rate || !wide) return {};
  return *rate / (1 + *wide);
}

Value imagesPerSecondHigh(const RunRecord& record, const RunRecord*) {
  const auto rate = imagesPerSecond(record, nullptr);
  const auto wide = relativeSpread(record);
  if (!rate || !wide) return {};
  return quotient(*rate, 1 - *wide);
}

/// Share of `part` in the step time of all replicas.
Value shareOfWall(const RunRecord& record, Nanos StepSample::*part) {
  Nanos sum{}, wall{};
  for (const StepSample& step : record.steps) {
    sum += step.*part;
    wall += step.wall;
  }
  return percentOf(quotient(seconds(sum), seconds(wall)));
}

Value inputWait(const RunRecord& record, const RunRecord*) { return shareOfWall(record, &StepSample::input); }
Value exposedComm(const RunRecord& record, const RunRecord*) { return shareOfWall(record, &StepSample::exposedComm); }

Value speedup(const RunRecord& record, const RunRecord* baseline) {
  if (baseline == nullptr || baseline->outcome.kind != OutcomeKind::ok) return {};
  const auto rate = imagesPerSecond(record, nullptr);
  const auto base = imagesPerSecond(*baseline, nullptr);
  if (!rate || !base) return {};
  return quotient(*rate, *base);
}

Value efficiency(const RunRecord& record, const RunRecord* baseline) {
  const auto gain = speedup(record, baseline);
  return gain ? percentOf(quotient(*gain, static_cast<double>(totalReplicas(record.config)))) : Value();
}

Value warmupSteps(const RunRecord& record, const RunRecord*) { return static_cast<double>(record.warmup.steps); }
Value updates(const RunRecord& record, const RunRecord*) {
  const auto count = updatesOf(record);
  return count ? Value(static_cast<double>(*count)) : Value();
}
Value warmupSeconds(const RunRecord& record, const RunRecord*) { return seconds(record.warmup.wall); }

Value whenMeasured(Nanos time) { return time > Nanos{} ? Value(seconds(time)) : Value(); }
Value startupSeconds(const RunRecord& record, const RunRecord*) { return whenMeasured(record.startup); }
Value wallSeconds(const RunRecord& record, const RunRecord*) { return whenMeasured(record.wall); }

Value peakMemory(const RunRecord& record, const RunRecord*) {
  if (record.peakMemoryBytes <= 0) return {};
  return static_cast<double>(record.peakMemoryBytes) / mebibyte;
}

Value peakReserved(const RunRecord& record, const RunRecord*) {
  if (record.peakReservedBytes <= 0) return {};
  return static_cast<double>(record.peakReservedBytes) / mebibyte;
}

Value activations(const RunRecord& record, const RunRecord*) {
  if (record.placement.activationBytes <= 0) return {};
  return static_cast<double>(record.placement.activationBytes) / mebibyte;
}

Value minorFaults(const RunRecord& record, const RunRecord*) {
  return quotient(static_cast<double>(record.minorFaults), static_cast<double>(record.measuredSteps));
}

Value finalLoss(const RunRecord& record, const RunRecord*) {
  if (lacksLastLosses(record)) return record.training->course.back().loss;
  const std::span<const double> losses = record.losses;
  return mean(losses.last(std::min(losses.size(), lossesAtEnd)));
}

Value teraflops(const RunRecord& record, const RunRecord*) {
  const auto rate = imagesPerSecond(record, nullptr);
  if (!rate || record.placement.forwardFlopsPerImage <= 0) return {};
  const double passes = record.config.step.forwardOnly ? 1 : 3;
  return passes * record.placement.forwardFlopsPerImage * *rate / 1e12;
}

Value gigaflops(const RunRecord& record, const RunRecord*) {
  const auto rate = imagesPerSecond(record, nullptr);
  if (!rate || record.placement.flopsPerImage <= 0) return {};
  return record.placement.flopsPerImage * *rate / 1e9;
}

Value gigabytes(const RunRecord& record, const RunRecord*) {
  if (record.placement.bytesPerStep <= 0) return {};
  return quotient(record.placement.bytesPerStep * static_cast<double>(record.measuredSteps) / 1e9,
                  seconds(record.window));
}

/// images/s at which images that take `work` each would use all of `peak` per second.
Value ceiling(double peak, double work) {
  if (!(peak > 0)) return {};
  return quotient(peak, work);
}

Value flopCeiling(const RunRecord& record, const RunRecord*) {
  return ceiling(record.flopsPeak, record.placement.flopsPerImage);
}

Value byteCeiling(const RunRecord& record, const RunRecord*) {
  if (record.globalBatch <= 0) return {};
  return ceiling(record.bytesPeak, record.placement.bytesPerStep / static_cast<double>(record.globalBatch));
}

Value shareOf(Value limit, const RunRecord& record) {
  const auto rate = imagesPerSecond(record, nullptr);
  return rate && limit ? percentOf(quotient(*rate, *limit)) : Value();
}

Value flopShare(const RunRecord& record, const RunRecord*) { return shareOf(flopCeiling(record, nullptr), record); }
Value byteShare(const RunRecord& record, const RunRecord*) { return shareOf(byteCeiling(record, nullptr), record); }

Value imagesPerJoule(const RunRecord& record, const RunRecord*) {
  return quotient(imagesOf(record), record.energyJoules);
}

Value watching(const RunRecord& record, const RunRecord*) {
  return percentOf(quotient(seconds(record.telemetry.cpu), seconds(record.wall)));
}

Value skippedSteps(const RunRecord& record, const RunRecord*) {
  return record.skippedSteps < 0 ? Value() : Value(static_cast<double>(record.skippedSteps));
}

Value lossScale(const RunRecord& record, const RunRecord*) {
  return record.lossScale > 0 ? Value(record.lossScale) : Value();
}

/// Null if the steps were not compared.
const EqualityStamp* stampOf(const RunRecord& record) {
  return record.equality && record.equality->compared() ? &*record.equality : nullptr;
}

Value changeError(const RunRecord& record, const RunRecord*) {
  const EqualityStamp* const stamp = stampOf(record);
  return stamp == nullptr ? Value() : Value(stamp->error.whole);
}

Value worstChangeError(const RunRecord& record, const RunRecord*) {
  const EqualityStamp* const stamp = stampOf(record);
  return stamp == nullptr ? Value() : Value(stamp->error.worst);
}

/// Of plain ATen in the run's precision.
Value plainChangeError(const RunRecord& record, const RunRecord*) {
  const EqualityStamp* const stamp = stampOf(record);
  return stamp == nullptr || stamp->plain.empty() ? Value() : Value(stamp->plain.back().error.whole);
}

Value fp32ChangeError(const RunRecord& record, const RunRecord*) {
  const EqualityStamp* const stamp = stampOf(record);
  return stamp == nullptr || stamp->plain.empty() ? Value() : Value(stamp->plain.front().error.whole);
}

Value replicasDifference(const RunRecord& record, const RunRecord*) {
  const EqualityStamp* const stamp = stampOf(record);
  return stamp == nullptr || stamp->differenceOfReplicas < 0 ? Value() : Value(stamp->differenceOfReplicas);
}

Value verifySeconds(const RunRecord& record, const RunRecord*) {
  const EqualityStamp* const stamp = stampOf(record);
  return stamp == nullptr ? Value() : Value(stamp->seconds);
}

Value meanStaleness(const RunRecord& record, const RunRecord*) {
  return record.staleness ? Value(record.staleness->mean) : Value();
}

Value mostStaleness(const RunRecord& record, const RunRecord*) {
  return record.staleness ? Value(static_cast<double>(record.staleness->most)) : Value();
}

Value trafficPerStep(const RunRecord& record, const RunRecord*) { return record.traffic.bytesPerStep / mebibyte; }

template <auto Formula>
Value ofOk(const RunRecord& record, const RunRecord* baseline) {
  if (record.outcome.kind != OutcomeKind::ok) return {};
  const Value value = Formula(record, baseline);
  return value && std::isfinite(*value) ? value : Value();
}

constexpr auto higher = Better::higher;
constexpr auto lower = Better::lower;
constexpr auto neither = Better::neither;

constexpr std::array table{
    Metric{"images_per_s", "images/s", "images trained per second over the measured window", 2, higher,
           ofOk<imagesPerSecond>},
    Metric{"images_per_s_low", "images/s", "lower end of the 95 % interval of images_per_s", 2, higher,
           ofOk<imagesPerSecondLow>},
    Metric{"images_per_s_high", "images/s", "upper end of the 95 % interval of images_per_s", 2, higher,
           ofOk<imagesPerSecondHigh>},
    Metric{"epoch_s", "s", "seconds per epoch: time in which every image of the data set is trained once", 1, lower,
           ofOk<epochSeconds>},
    Metric{"spread_percent", "%", "half width of the 95 % interval of the mean step, relative to the mean", 1, lower,
           ofOk<spread>},
    Metric{"step_mean_ms", "ms", "mean time of a step", 2, lower, ofOk<stepMean>},
    Metric{"step_median_ms", "ms", "median time of a step", 2, lower, ofOk<stepMedian>},
    Metric{"step_p95_ms", "ms", "95th percentile of the step times, from 20 steps on", 2, lower, ofOk<stepP95>},
    Metric{"input_wait_percent", "%", "share of the step time that replicas waited for their batch", 1, lower,
           ofOk<inputWait>},
    Metric{"exposed_comm_percent", "%", "share of the step time for exchange and update after backward", 1, lower,
           ofOk<exposedComm>},
    Metric{"speedup", "x", "images_per_s relative to the 1-replica run equal in every other option", 2, higher,
           ofOk<speedup>},
    Metric{"efficiency_percent", "%", "speedup per replica; 100 % is ideal", 1, higher, ofOk<efficiency>},
    Metric{"warmup_steps", "steps", "steps before the measured window", 0, neither, ofOk<warmupSteps>},
    Metric{"warmup_s", "s", "time of the steps before the measured window", 2, lower, ofOk<warmupSeconds>},
    Metric{"startup_s", "s", "from the start of the process to the first step", 2, lower, ofOk<startupSeconds>},
    Metric{"wall_s", "s", "from the start of the process to its end", 2, lower, ofOk<wallSeconds>},
    Metric{"peak_memory_mib", "MiB", "host: peak resident set; CUDA: peak allocated on the fullest device", 0, lower,
           ofOk<peakMemory>},
    Metric{"peak_reserved_mib", "MiB", "CUDA: peak that the allocator held, in use or not, on the fullest device", 0,
           lower, ofOk<peakReserved>},
    Metric{"activations_mib", "MiB", "activations that a replica keeps for backward, at most at any one time", 0, lower,
           ofOk<activations>},
    Metric{"minor_faults_per_step", "faults", "pages of host memory touched for the first time, per step", 1, lower,
           ofOk<minorFaults>},
    Metric{"final_loss", "", "mean training loss of the last 20 steps", 4, lower, ofOk<finalLoss>},
    Metric{"eval_accuracy", "", "share of images told rightly in the last evaluation of a training", 4, higher,
           ofOk<lastFigure<&EvaluationRecord::accuracy>>},
    Metric{"eval_accuracy_best", "", "eval_accuracy in the evaluation where it is highest", 4, higher,
           ofOk<bestFigure<&EvaluationRecord::accuracy, Best::highest>>},
    Metric{"eval_top5", "", "share of images whose class is among the five highest, in the last evaluation", 4, higher,
           ofOk<lastFigure<&EvaluationRecord::top5>>},
    Metric{"eval_top5_best", "", "eval_top5 in the evaluation where it is highest", 4, higher,
           ofOk<bestFigure<&EvaluationRecord::top5, Best::highest>>},
    Metric{"eval_auc", "", "area under the ROC curve, mean over the classes, in the last evaluation", 4, higher,
           ofOk<lastFigure<&EvaluationRecord::auc>>},
    Metric{"eval_auc_best", "", "eval_auc in the evaluation where it is highest", 4, higher,
           ofOk<bestFigure<&EvaluationRecord::auc, Best::highest>>},
    Metric{"eval_loss", "", "mean loss over the images of the last evaluation", 4, lower,
           ofOk<lastFigure<&EvaluationRecord::loss>>},
    Metric{"eval_loss_best", "", "eval_loss in the evaluation where it is lowest", 4, lower,
           ofOk<bestFigure<&EvaluationRecord::loss, Best::lowest>>},
    Metric{"epoch_training_s", "s", "seconds of the steps of an epoch in a training", 1, lower,
           ofOk<trainingSecondsPerEpoch>},
    Metric{"epoch_whole_s", "s", "the same with evaluations, checkpoints and what lies between", 1, lower,
           ofOk<wholeSecondsPerEpoch>},
    Metric{"to_target_s", "s", "from the first step of a training until --stop-at was reached", 1, lower,
           ofOk<secondsToTarget>},
    Metric{"idle_percent", "%", "share of a training in which neither steps, evaluations nor checkpoints were made", 2,
           lower, ofOk<idlePercent>},
    Metric{"saving_percent", "%", "share of a training that waited for checkpoints", 2, lower, ofOk<savingPercent>},
    Metric{"updates", "", "updates of the weights in the whole run, warm-up included", 0, neither, ofOk<updates>},
    Metric{"staleness", "updates", "updates that weights lacked when a gradient of them was used, in the mean", 2,
           lower, ofOk<meanStaleness>},
    Metric{"staleness_max", "updates", "the same, at most", 0, lower, ofOk<mostStaleness>},
    Metric{"skipped_steps", "steps", "steps that updated nothing: gradients of the scaled loss overflowed", 0, lower,
           ofOk<skippedSteps>},
    Metric{"loss_scale", "", "what the loss is scaled by at the end of the run", 0, neither, ofOk<lossScale>},
    Metric{"tflops", "TFLOP/s", "floating-point operations of the network per second", 3, higher, ofOk<teraflops>},
    Metric{"gflops", "GFLOP/s", "floating-point operations of the steps as they are done, per second", 1, higher,
           ofOk<gigaflops>},
    Metric{"flop_ceiling", "images/s", "images_per_s if the processors did nothing but these operations, at their peak",
           2, higher, ofOk<flopCeiling>},
    Metric{"flop_ceiling_percent", "%", "images_per_s relative to flop_ceiling", 1, higher, ofOk<flopShare>},
    Metric{"gbytes", "GB/s", "bytes that memory moves per second, at the least", 1, higher, ofOk<gigabytes>},
    Metric{"byte_ceiling", "images/s", "images_per_s if memory did nothing but move these bytes, at its peak", 2,
           higher, ofOk<byteCeiling>},
    Metric{"byte_ceiling_percent", "%", "images_per_s relative to byte_ceiling", 1, higher, ofOk<byteShare>},
    Metric{"traffic_mib_per_step", "MiB", "bytes the strategy moves per replica and step", 2, lower,
           ofOk<trafficPerStep>},
    Metric{"images_per_j", "images/J", "images trained per joule that the metered devices took", 4, higher,
           ofOk<imagesPerJoule>},
    Metric{"change_error", "", "error of the weights' change in the first steps, relative to one replica in fp64",
           Metric::powerOfTen, lower, ofOk<changeError>},
    Metric{"worst_change_error", "", "change_error of the parameter where it is largest", Metric::powerOfTen, lower,
           ofOk<worstChangeError>},
    Metric{"plain_change_error", "", "change_error of plain ATen in the precision of the run", Metric::powerOfTen,
           neither, ofOk<plainChangeError>},
    Metric{"fp32_change_error", "", "change_error of plain ATen in fp32", Metric::powerOfTen, neither,
           ofOk<fp32ChangeError>},
    Metric{"replicas_difference", "", "change_error relative to one replica with the same kernels; 0 is bit-equal",
           Metric::powerOfTen, lower, ofOk<replicasDifference>},
    Metric{"verify_s", "s", "time of the comparison behind change_error", 2, lower, ofOk<verifySeconds>},
    Metric{"watching_percent", "%", "CPU time that telemetry took, of one CPU's over the run", 3, lower,
           ofOk<watching>},
};

}  // namespace

std::span<const Metric> metrics() { return table; }

const Metric& metric(std::string_view name) { return find(metrics(), name, "metric"); }

}  // namespace tandem
