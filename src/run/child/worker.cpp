#include <fstream>
#include <iostream>
#include <iterator>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "comm/rank_environment.h"
#include "comm/world.h"
#include "device/allocator/cpu_allocator.h"
#include "kernels/simd/isa_dispatch.h"
#include "machine/process/child_output.h"
#include "machine/process/thread_limit.h"
#include "run/child/point_runner.h"
#include "run/child/worker_protocol.h"
#include "run/outcome_of_exception.h"
#include "run/plan/thread_count.h"
#include "run/start_record.h"
#include "trace/fault.h"
#include "trace/flight_recorder.h"

namespace tandem {
namespace {

WorkerOrder readOrder() {
  return orderFromText({std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()});
}

/// Throws UsageError if ranks would run different programs or read different data.
void requireSameRun(World& world, const RunRecord& start, const RunPlan& plan) {
  const int64_t images = plan.data ? plan.data->images : 0;
  const auto said =
      world.exchange(concat("commit ", start.environment.commit, start.environment.dirty ? " (changed)" : "", ", ",
                            images, " images, kernels for ", nameOf(usedIsa())));
  for (size_t rank = 1; rank < said.size(); ++rank) {
    if (said[rank] == said[0]) continue;
    throw UsageError(concat("ranks would not train the same: rank 0 has ", said[0], "; rank ", rank, " has ",
                            said[rank], "; start the same program on the same data everywhere"));
  }
}

RunRecord measured(const WorkerOrder& order) {
  try {
    RunPlan plan = resolvePlan(order.config, &order.place);
    requireThreads(threadsOf(plan));
    plan.sweepBegin = order.sweepBegin;
    const RunRecord start = startRecord(plan.config);
    sendLine(startLine(start));
    std::unique_ptr<World> world;
    if (order.place.size > 1) {
      faultAt(FaultPhase::beforeRendezvous);
      enterStage(Stage::meeting);
      world = meetRanks(order.place, plan.config.exchange.timeout, plan.config.exchange.checkCollectives);
      faultAt(FaultPhase::afterRendezvous);
      requireSameRun(*world, start, plan);
      plan.world = world.get();
    }
    enterStage(Stage::preparing);
    return runPoint(
        plan, [](const Progress& progress) { sendLine(progressLine(progress)); },
        [](const RunRecord& unverified) { sendLine(recordLine(unverified)); });
  } catch (const std::exception& failure) {
    RunRecord record = startRecord(order.config);
    record.outcome = outcomeOf(failure, order.config);
    return record;
  }
}

/// --inject, if it means this rank, and this attempt of a launcher that starts ranks again.
void armFaultOf(const WorkerOrder& order) {
  if (order.config.measurement.inject.empty()) return;
  const Fault fault = faultFrom(order.config.measurement.inject);
  const bool isThisAttempt = !fault.attempt || *fault.attempt == attemptOfLauncher(variablesOfProcess());
  if (fault.rank == order.place.rank && isThisAttempt) armFault(fault);
}

/// If the system runs out of memory, its out-of-memory killer should end this process rather than another one.
void offerToBeKilledFirst() { std::ofstream("/proc/self/oom_score_adj") << 1000; }

}  // namespace

int runWorker() {
  installCpuAllocator();
  requireParent("worker", "tandem bench");
  offerToBeKilledFirst();
  const std::unique_ptr<FlightMemory> flight = FlightMemory::inherited(childShared);
  processFlight = flight.get();
  const WorkerOrder order = readOrder();
  armFaultOf(order);
  redirectWarnings([](const std::string& text) { sendLine(warningLine(text)); });  // the sweep says each once
  const RunRecord record = measured(order);
  if (record.outcome.kind == OutcomeKind::ok) enterStage(Stage::ending);
  faultAt(FaultPhase::exit);
  if (faultIsPending()) logWarning(concat("--inject=", order.config.measurement.inject, ": the run never came there"));
  sendLine(recordLine(record));
  return static_cast<int>(record.outcome.code);
}

}  // namespace tandem
