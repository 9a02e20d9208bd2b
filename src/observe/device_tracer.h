#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "device/gpu_support.h"
#include "machine/gpu/cupti.h"
#include "measure/record/record.h"
#include "trace/op_scope.h"

namespace tandem {

struct DeviceTracerOptions {
  std::vector<int> devices;     ///< ordinals, one per replica
  std::vector<OpDemand> works;  ///< by the numbers of OpScope; none: operations are not known
  StatedPeaks peaks;            ///< of one device
  std::span<const char* const> libraries = cuptiLibraries;
};

/// Keeps what the GPUs of a run do in the last steps of the measured window (--profile). In a graph nobody can say for
/// which operation a kernel runs; so an eager step of replica 0's is kept before, and what has the same names in the
/// same order has the same operations, on every GPU. What fails is kept as text, and the run goes on.
class DeviceTracer {
 public:
  /// The host, held up by what begins, gets ahead of the devices again in the first of them; the last ends the ones
  /// that are measured.
  static constexpr int64_t leadIn = 2, measured = 3, traced = leadIn + measured + 1;

  explicit DeviceTracer(DeviceTracerOptions options);

  /// Around an eager step, by one thread; all devices have done their work before eagerEnds().
  void eagerBegins();
  void eagerEnds();

  /// Whether a step of the window of `steps` is kept.
  static bool traces(int64_t step, int64_t steps) { return steps >= traced && step >= steps - traced; }
  /// By each replica before its first such step; the first one begins.
  void stepsBegin();
  /// By one thread after the window, when all devices have done their work.
  void stepsEnd(int64_t steps);

  /// Of what was kept; by the clock.
  std::span<const DeviceActivity> activities() const { return activities_; }
  /// Where the record has a profile. After stepsEnd().
  void fill(RunRecord& record) const;

 private:
  friend class TracedStep;
  void start();

  DeviceTracerOptions options_;
  std::unique_ptr<Cupti> cupti_;  // null: it failed, and missing_ says why
  std::string missing_;
  std::mutex mutex_;
  bool begun_ = false;
  std::vector<DeviceActivity> eager_, activities_;
  int64_t lost_ = 0;
  TracedSteps steps_;
};

/// One step of a replica, on its thread: marks what the thread enqueues with the step and with the operations.
class TracedStep final : public OpListener {
 public:
  /// `tracer` null: marks nothing.
  TracedStep(DeviceTracer* tracer, int64_t step);
  ~TracedStep() override;
  TracedStep(const TracedStep&) = delete;
  TracedStep& operator=(const TracedStep&) = delete;

  void opBegins(int64_t operation) noexcept override { cupti_->push(Cupti::Tag::operation, operation); }
  void opEnds() noexcept override { cupti_->pop(Cupti::Tag::operation); }

 private:
  const Cupti* cupti_ = nullptr;  // null: it marks nothing
};

}  // namespace tandem
