#include "cli/stop_on_signal.h"

#include "run/child/point_runner.h"

namespace tandem {
namespace {

void onSignal(int) { PointRunner::requestStop(); }

}  // namespace

// Without SA_RESTART, so that a signal interrupts poll(2) and PointRunner sees the request at once.
StopOnSignal::StopOnSignal() {
  struct sigaction action {};
  action.sa_handler = onSignal;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < signals.size(); ++i) {
    sigaction(signals[i], nullptr, &before_[i]);
    if (signals[i] != SIGHUP || before_[i].sa_handler != SIG_IGN) sigaction(signals[i], &action, nullptr);
  }
}

StopOnSignal::~StopOnSignal() {
  for (size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &before_[i], nullptr);
}

}  // namespace tandem
