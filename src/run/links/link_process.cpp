#include "run/links/link_process.h"

#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <optional>

#include "base/clock.h"
#include "base/text.h"
#include "base/utf8.h"
#include "machine/cpu/host_facts.h"
#include "machine/process/child_output.h"
#include "machine/process/child_process.h"
#include "run/child/point_runner.h"

namespace tandem {
namespace {

constexpr double endGraceSeconds = 5;
constexpr double graceAfterFailure = 2;  // for the others, one of which may know the cause
constexpr int pollMillis = 100;
constexpr std::string_view failed = "failure ";

/// A child and what it has said so far.
class LinkProcess {
 public:
  LinkProcess(const std::string& executable, const LinkOrder& order)
      : part_(order.part),
        child_({.executable = executable,
                .arguments = {"links-worker"},
                .environment = workerEnvironment(),
                .input = textOf(order)}) {}

  bool isOpen() const { return open_; }
  int output() const { return child_.output(); }
  void kill() { child_.kill(); }

  /// Hands on whole lines. Throws what a line says of a failure.
  void read(const LinkSink& sink) {
    open_ = lines_.read(child_.output(), [&](const std::string& line) { readLinkLine(line, sink); });
  }

  /// Throws if it ended otherwise than by exit code 0. REQUIRES: it closed its output.
  void requireGoodEnd() {
    const int status = child_.wait(endGraceSeconds);
    if (status == 0) return;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
      throw UsageError(concat("links: the process that measures ", part_,
                              " was killed (signal 9, SIGKILL), probably out of memory; lower the largest of --sizes"));
    }
    throw InternalError(concat("links: the process that measures ", part_, " ended with status ", status));
  }

 private:
  std::string part_;
  LineReader lines_;
  ChildProcess child_;
  bool open_ = true;
};

using Processes = std::vector<std::unique_ptr<LinkProcess>>;

bool anyOpen(const Processes& processes) {
  return std::ranges::any_of(processes, [](const auto& process) { return process->isOpen(); });
}

/// The failures that the processes told, until all have closed their outputs or time is over.
class Listener {
 public:
  Listener(const Processes& processes, double patience) : processes_(processes), patience_(patience) {}

  LinkEnd listen(const LinkSink& sink) {
    const Nanos begin = now();
    while (anyOpen(processes_)) {
      if (PointRunner::stopRequested()) return LinkEnd::stopped;
      const bool late = seconds(now() - begin) > patience_;
      if (late || (failure_ && seconds(now() - failedAt_) > graceAfterFailure)) break;
      readOnce(sink);
    }
    if (failure_) throw *failure_;
    if (!anyOpen(processes_)) return LinkEnd::done;
    throw InvalidMeasurement(
        concat("links: a part did not end within ", secondsText(patience_), "; lower --sizes, or raise --budget"));
  }

 private:
  void readOnce(const LinkSink& sink) {
    std::vector<pollfd> waited;
    for (const auto& process : processes_) {
      waited.push_back({.fd = process->isOpen() ? process->output() : -1, .events = POLLIN, .revents = 0});
    }
    if (poll(waited.data(), waited.size(), pollMillis) <= 0) return;
    for (size_t i = 0; i < waited.size(); ++i) {
      if (waited[i].revents != 0) readFrom(*processes_[i], sink);
    }
  }

  /// A rank that lost another one says so too. The other one's reason is the cause.
  void readFrom(LinkProcess& process, const LinkSink& sink) {
    try {
      process.read(sink);
    } catch (const Error& failure) {
      if (!failure_) failedAt_ = now();
      if (!failure_ || failure_->code() == ExitCode::peer) failure_ = failure;
    }
  }

  const Processes& processes_;
  const double patience_;
  std::optional<Error> failure_;
  Nanos failedAt_{};
};

}  // namespace

std::string failureLine(ExitCode code, const std::string& reason) {
  return concat(failed, static_cast<int>(code), ' ', withoutControls(reason));
}

void readLinkLine(const std::string& line, const LinkSink& sink) {
  if (!line.starts_with(failed)) return sink(seriesOf(line));
  const std::string told = line.substr(failed.size());
  const size_t blank = told.find(' ');
  const auto code = wholeNumber(told.substr(0, blank));
  check(code && blank != std::string::npos, "a process of links says why it failed");
  throw Error(static_cast<ExitCode>(*code), told.substr(blank + 1));
}

LinkEnd runLinkProcesses(const std::string& executable, const std::vector<LinkOrder>& orders, double patience,
                         const LinkSink& sink) {
  Processes processes;
  for (const LinkOrder& order : orders) processes.push_back(std::make_unique<LinkProcess>(executable, order));
  const LinkEnd end = Listener(processes, patience).listen(sink);
  for (const auto& process : processes) {
    if (end == LinkEnd::stopped) process->kill();
    if (end == LinkEnd::done) process->requireGoodEnd();
  }
  return end;
}

}  // namespace tandem
