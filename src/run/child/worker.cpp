#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>

#include "base/error.h"
#include "base/text.h"
#include "device/allocator/cpu_allocator.h"
#include "run/child/point_runner.h"
#include "run/child/worker_protocol.h"
#include "run/outcome_of_exception.h"
#include "run/start_record.h"

namespace tandem {
namespace {

void requireOutput() {
  if (fcntl(workerOutput, F_GETFD) >= 0) return;
  throw UsageError("worker is started by 'tandem bench', not by hand; use 'tandem bench'");
}

/// The kernel sends the death signal only if the parent ends after prctl(). This finds a parent that ended before.
void requireParent(pid_t parent) {
  if (getppid() != parent) throw UsageError("worker: the process that ordered this run has ended");
}

WorkerOrder readOrder() {
  return orderFromText({std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()});
}

void send(const std::string& line) {
  size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t count = write(workerOutput, line.data() + sent, line.size() - sent);
    if (count < 0 && errno != EINTR) throw InternalError(concat("worker: cannot report: ", std::strerror(errno)));
    if (count > 0) sent += static_cast<size_t>(count);
  }
}

RunRecord measured(const WorkerOrder& order) {
  try {
    RunPlan plan = resolvePlan(order.config);
    plan.sweepBegin = order.sweepBegin;
    send(startLine(startRecord(plan.config)));
    return runPoint(
        plan, [](const Progress& progress) { send(progressLine(progress)); },
        [](const RunRecord& unverified) { send(recordLine(unverified)); });
  } catch (const std::exception& failure) {
    RunRecord record = startRecord(order.config);
    record.outcome = outcomeOf(failure, order.config);
    return record;
  }
}

/// If the system runs out of memory, its out-of-memory killer should end this process rather than another one.
void offerToBeKilledFirst() { std::ofstream("/proc/self/oom_score_adj") << 1000; }

}  // namespace

int runWorker() {
  installCpuAllocator();
  requireOutput();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  offerToBeKilledFirst();
  const WorkerOrder order = readOrder();
  requireParent(order.parent);
  const RunRecord record = measured(order);
  send(recordLine(record));
  return static_cast<int>(record.outcome.code);
}

}  // namespace tandem
