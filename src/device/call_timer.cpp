#include "device/call_timer.h"

#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "device/rng.h"

namespace tandem {
namespace {

using Call = std::function<void()>;

constexpr int callsInARow = 4;
constexpr int callsInGraph = 8, launches = 3;

void repeat(int times, const Call& call) {
  for (int i = 0; i < times; ++i) call();
}

/// The host does not wait between calls, so its own work counts only where the device waits for it.
double secondsInARow(const Device& device, const Call& call) {
  device.synchronize();
  const Nanos begin = now();
  repeat(callsInARow, call);
  device.synchronize();
  return seconds(now() - begin) / callsInARow;
}

/// The first launch is not timed: it brings the graph to the device, which is busy with it while the host enqueues the
/// others.
double secondsInGraph(const Device& device, CapturedGraph& graph) {
  graph.launch();
  return device.streamSeconds([&] { repeat(launches, [&] { graph.launch(); }); }) / (launches * callsInGraph);
}

}  // namespace

CallTimer::CallTimer(const Device& device, const GraphRecorder& recorder)
    : device_(device), graph_(recorder ? recorder(device) : nullptr), generator_(newGenerator(device.torch(), 1)) {
  check(!graph_ || device.hasStreams(), "a timer with graphs: the device has streams");
}

double CallTimer::secondsOf(const Call& call) {
  call();
  return graph_ && captures(call) ? secondsInGraph(device_, *graph_) : secondsInARow(device_, call);
}

std::string_view CallTimer::way() const { return graph_ ? "in a graph" : "calls in a row"; }

bool CallTimer::captures(const Call& call) {
  try {
    graph_->record([&] { repeat(callsInGraph, call); }, generator_);
    return true;
  } catch (const std::exception& refusal) {
    if (!std::exchange(warned_, true)) {
      logWarning(concat("a kernel that cannot be captured is timed outside a graph: ", firstLine(refusal.what())));
    }
    return false;
  }
}

}  // namespace tandem
