#include <iomanip>
#include <iostream>

#include "base/text.h"
#include "cli/bench_points.h"
#include "cli/catalogs.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "executor/compile/plan_description.h"
#include "machine/process/thread_limit.h"
#include "machine/process/utc_time.h"
#include "models/model.h"
#include "run/plan/select_kernels.h"
#include "run/plan/thread_count.h"

namespace tandem {
namespace {

constexpr std::string_view usage =
    "Usage: tandem plan show [--OPTION=VALUE ...]\n\n"
    "Prints the calls that the planned executor makes in each step, in the order of forward: what was fused,\n"
    "what each reads and writes, in which memory order, and what stays in memory until backward or is computed\n"
    "again for it (--recompute). Takes the options of bench.\n\n"
    "  tandem plan show --model=resnet50 --batch=32 --precision=bf16\n";

std::string keptText(const OpDescription& call) {
  if (call.again) return call.kept ? "computed again, output kept" : "computed again";
  return call.kept ? "until backward" : "forward only";
}

std::vector<std::string> cells(const OpDescription& call) {
  return {call.name,
          call.operation,
          join(call.inputs, " "),
          shapeText(call.shape),
          concat(call.blocked ? "blocked" : "plain", call.byAutograd ? ", backward by autograd" : ""),
          call.algorithm,
          std::to_string(call.parameters),
          fixed(call.flops / 1e6, 1),
          bytesText(static_cast<double>(call.outputBytes)),
          keptText(call),
          std::to_string(call.segment + 1)};
}

std::string recomputeText(const RunPlan& plan, const PlanDescription& description) {
  if (!plan.recomputeNote.empty()) return plan.recomputeNote;
  return concat("--recompute=", plan.config.numerics.recompute, ": ", description.segments,
                " segments, of which backward repeats all but the last, ", fixed(description.flopsAgain / 1e9, 2),
                " GFLOP; ", bytesText(static_cast<double>(description.keptWithoutBytes)), " would be kept without");
}

void show(const RunPlan& plan) {
  const Config& config = plan.config;
  if (!plan.setup.executor->planned) {
    throw UsageError(concat("--executor=", config.numerics.executor, ": only --executor=planned has a plan"));
  }
  const Graph& graph = *plan.graph;
  const KernelSelection kernels = selectKernels(plan, graph);
  const int64_t images = plan.replicaBatch / config.step.accumulate;
  const ExecutorOptions options{.compute = plan.setup.precision->compute,
                                .kernels = kernels,
                                .device = plan.setup.device,
                                .recompute = *plan.setup.recompute};
  const PlanDescription description = describePlan(graph, options, images);
  std::cout << config.network.model << ", " << config.numerics.precision << ", " << images << " images at a time, "
            << kernels.layout.name << ": " << description.calls.size() << " calls of " << graph.nodes().size() - 1
            << " nodes\n";
  if (plan.search) std::cout << guessText(plan) << '\n';
  std::vector<std::vector<std::string>> rows{{"call", "operation", "reads", "output", "memory", "algorithm",
                                              "parameters", "MFLOP", "bytes", "kept", "segment"}};
  double flops = 0;
  for (const OpDescription& call : description.calls) {
    rows.push_back(cells(call));
    flops += call.flops;
  }
  constexpr size_t textColumns = 6;
  printTable(rows, textColumns);
  std::cout << "forward " << fixed(flops / 1e9, 2) << " GFLOP; activations at most "
            << bytesText(static_cast<double>(description.peakBytes)) << " during forward, "
            << bytesText(static_cast<double>(description.keptBytes)) << " kept for backward; parameters "
            << bytesText(static_cast<double>(plan.memory.parameters)) << '\n';
  if (config.numerics.recompute != Config().numerics.recompute) std::cout << recomputeText(plan, description) << '\n';
  if (!kernels.details.empty()) std::cout << kernels.details << '\n';
  for (const std::string& note : kernels.notes) std::cout << note << '\n';
}

}  // namespace

int planCommand(Arguments arguments) {
  if (asksForHelp(arguments)) {
    std::cout << usage;
    return 0;
  }
  if (arguments.empty() || arguments.front() != "show") {
    throw UsageError(
        concat("tandem plan", arguments.empty() ? "" : " " + arguments.front(), ": use 'tandem plan show'"));
  }
  const auto names = catalogNames();
  const Sweep sweep = parseArguments("bench", arguments.subspan(1), names);
  auto points = resolvePoints(sweep, expand(sweep, names));
  const std::string begin = exactUtcTime();
  for (BenchPoint& point : points) {
    if (!point.plan) throw UsageError(point.refusal);
    requireThreads(threadsOf(*point.plan));  // with which kernels are measured
    point.plan->sweepBegin = begin;
    show(*point.plan);
  }
  return 0;
}

}  // namespace tandem
