#include "rows.h"

#include <ATen/ATen.h>

namespace tandem::bench {
namespace {

// The first call is not timed: it brings memory from the system, and libraries build what they keep.
double secondsPerCall(benchmark::State& state, const Call& call) {
  call();
  const Nanos start = now();
  for (auto _ : state) call();
  return seconds(now() - start) / static_cast<double>(state.iterations());
}

/// Work in `unit` per second beside its peak.
struct Rate {
  const char* unit;
  const char* share;
  double work, peak;
};

void addRow(const std::string& name, const Rate& rate, const std::function<Call()>& prepare) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& state) {
                                 const double perSecond = rate.work / secondsPerCall(state, prepare());
                                 state.counters[rate.unit] = perSecond;
                                 if (rate.peak > 0) state.counters[rate.share] = perSecond / rate.peak;
                               })
      ->UseRealTime()
      ->Unit(benchmark::kMicrosecond);
}

}  // namespace

void addByteRow(const std::string& name, const Peaks& peaks, double bytes, const std::function<Call()>& prepare) {
  addRow(name, {"bytes/s", "of_copy", bytes, peaks.copy.perSecond}, prepare);
}

void addFlopRow(const std::string& name, double peak, double flops, const std::function<Call()>& prepare) {
  addRow(name, {"FLOP/s", "of_peak", flops, peak}, prepare);
}

at::Tensor randomVector(int64_t count, at::ScalarType type) {
  constexpr int64_t period = 1000003;  // no power of two: a channel must not see the same few values
  static const at::Tensor values = at::randn({period});
  return values.repeat({(count + period - 1) / period}).narrow(0, 0, count).to(type);
}

at::Tensor randomImages(const Activation& shape, at::ScalarType type) {
  return randomVector(shape.count(), type)
      .view({shape.images, shape.height, shape.width, shape.channels})
      .permute({0, 3, 1, 2});
}

}  // namespace tandem::bench
