#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "machine/gpu/gpu_topology.h"
#include "measure/record/environment.h"
#include "measure/record/record.h"
#include "report/tables/result_table.h"
#include "run/links/link_series.h"

namespace tandem {

/// The tables of `tandem links`. All numbers are computed here from the series.

/// The facts of the machine, a row each.
ResultTable machineTable(const Environment& environment);

/// What each two cores share, as a matrix. `threads`: a hardware thread of each core; `shared`: sharedByPairs() of
/// them. On a machine with more than sixteen cores, those that share a cache or a node are one row and column.
ResultTable coreMatrix(std::span<const int> threads, const std::vector<std::vector<std::string>>& shared);

/// The paths between GPUs, a row for each pair; empty below two GPUs.
std::vector<ResultTable> gpuPathTables(const GpuLinks& links);

/// Each series in a row: time at its smallest size, largest bandwidth, share of the data sheet.
ResultTable linkSummary(std::span<const LinkSeries> series);

/// A table for each kind of link, with every size.
std::vector<ResultTable> linkTables(std::span<const LinkSeries> series);

/// The gradients of a network.
struct Gradients {
  std::string model;
  int64_t parameters = 0;
  std::optional<double> stepSeconds;  ///< of one replica; empty: not known
  std::string stepNote;               ///< where that is from
};

/// Bytes of the gradients in fp32.
double bytesOf(const Gradients& gradients);

/// The last valid run of one replica of the model on this host, if the records have one.
void findStep(Gradients& gradients, std::span<const RunRecord> records, const std::string& host);

/// How long one all-reduce of each network's gradients takes over each link, beside its step.
ResultTable gradientTable(std::span<const LinkSeries> series, std::span<const Gradients> networks);

/// The largest gradients that each link exchanges within a tenth of a step, for steps of 10 ms to 10 s.
ResultTable breakEvenTable(std::span<const LinkSeries> series);

}  // namespace tandem
