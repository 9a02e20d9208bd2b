#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "device/gpu_support.h"
#include "machine/gpu/cupti.h"
#include "measure/record/record.h"
#include "trace/op_scope.h"

namespace tandem {

struct DeviceTracerOptions {
  std::vector<int> devices;     ///< ordinals, one per replica
  std::vector<OpDemand> works;  ///< by the operation numbers of OpScope; empty: operations are not known
  StatedPeaks peaks;            ///< peaks of one device
  std::span<const char* const> libraries = cuptiLibraries;
};

/// Records the activities of a run's GPUs in the last steps of the measured window (--profile). CUPTI cannot tell for
/// which operation a kernel of a graph runs. So an eager step of replica 0 is recorded before; activities with the same
/// names in the same order get its operations, on every GPU. An error is kept as text, and the run goes on.
class DeviceTracer {
 public:
  /// Starting CUPTI delays the host. In two lead-in steps the host runs ahead of the devices again; three steps are
  /// measured; one more marks their end.
  static constexpr int64_t leadIn = 2, measured = 3, traced = leadIn + measured + 1;

  explicit DeviceTracer(DeviceTracerOptions options);

  /// Called around an eager step, by one thread. REQUIRES of eagerEnds(): all devices have finished.
  void eagerBegins();
  void eagerEnds();

  /// Whether `step` of a window of `steps` is recorded.
  static bool traces(int64_t step, int64_t steps) { return steps >= traced && step >= steps - traced; }
  /// Called by each replica before its first recorded step. The first call starts CUPTI.
  void stepsBegin();
  /// Called by one thread after the window. REQUIRES: all devices have finished.
  void stepsEnd(int64_t steps);

  /// The recorded activities, with times of the measuring clock.
  std::span<const DeviceActivity> activities() const { return activities_; }
  /// Fills the profile of a record that has one. Call it after stepsEnd().
  void fill(RunRecord& record) const;

 private:
  friend class TracedStep;
  void start();

  DeviceTracerOptions options_;
  std::unique_ptr<Cupti> cupti_;  // null: opening failed, and missing_ says why
  std::string missing_;
  Mutex mutex_;
  bool begun_ TANDEM_GUARDED_BY(mutex_) = false;
  std::vector<DeviceActivity> eager_, activities_;
  int64_t lost_ = 0;
  TracedSteps steps_;
};

/// One step of a replica, on its thread. It marks the work that the thread enqueues with step and operation.
class TracedStep final : public OpListener {
 public:
  /// With a null `tracer`, it marks nothing.
  TracedStep(DeviceTracer* tracer, int64_t step);
  ~TracedStep() override;
  TracedStep(const TracedStep&) = delete;
  TracedStep& operator=(const TracedStep&) = delete;

  void opBegins(int64_t operation) noexcept override { cupti_->push(Cupti::Tag::operation, operation); }
  void opEnds() noexcept override { cupti_->pop(Cupti::Tag::operation); }

 private:
  const Cupti* cupti_ = nullptr;  // null: marks nothing
};

}  // namespace tandem
