#include "observe/device_tracer.h"

#include <set>

#include "base/text.h"

namespace tandem {

DeviceTracer::DeviceTracer(DeviceTracerOptions options) : options_(std::move(options)) {
  try {
    cupti_ = Cupti::open(options_.libraries);
  } catch (const TracingFailed& failure) {
    missing_ = failure.what();
  }
}

void DeviceTracer::start() {
  if (!cupti_) return;
  try {
    cupti_->start();
  } catch (const TracingFailed& failure) {
    missing_ = failure.what();
    cupti_.reset();
  }
}

void DeviceTracer::eagerBegins() { start(); }

void DeviceTracer::eagerEnds() {
  if (!cupti_) return;
  eager_ = cupti_->stop();
  std::erase_if(eager_, [&](const DeviceActivity& activity) { return activity.device != options_.devices.front(); });
}

void DeviceTracer::stepsBegin() {
  const MutexLock lock(mutex_);
  if (!begun_) start();
  begun_ = true;
}

void DeviceTracer::stepsEnd(int64_t steps) {
  if (!cupti_) return;
  const MutexLock lock(mutex_);
  if (!begun_) {
    missing_ = concat("the window has ", steps, " steps, and what GPUs do is kept in the last ", traced,
                      "; raise --steps or --budget");
    return;
  }
  activities_ = cupti_->stop();
  lost_ = cupti_->lost();
  adoptSteps(activities_);
  adoptOperations(activities_, eager_);
  steps_ = {steps - traced + leadIn, steps - 1};
}

void DeviceTracer::fill(RunRecord& record) const {
  if (!record.profile) return;
  DeviceProfile& profile = record.profile->device.emplace();
  profile.lost = lost_;
  profile.flopsPeak = options_.peaks.flops, profile.bytesPeak = options_.peaks.bytes;
  profile.missing = missing_;
  if (!missing_.empty()) return;
  for (const int device : std::set<int>(options_.devices.begin(), options_.devices.end())) {
    auto steps = gpuTimeline(activities_, device, steps_, options_.works);
    if (steps) profile.devices.push_back(*std::move(steps));
  }
  if (profile.devices.empty()) {
    profile.missing = concat("CUPTI told of ", activities_.size(), " activities, but not to which steps they belong");
  }
}

TracedStep::TracedStep(DeviceTracer* tracer, int64_t step) {
  if (tracer == nullptr || !tracer->cupti_) return;
  cupti_ = tracer->cupti_.get();
  cupti_->push(Cupti::Tag::step, step);
  threadOpListener = this;
}

TracedStep::~TracedStep() {
  if (cupti_ == nullptr) return;
  threadOpListener = nullptr;
  cupti_->pop(Cupti::Tag::step);
}

}  // namespace tandem
