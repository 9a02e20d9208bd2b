#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "executor/select/kernel_selection.h"
#include "run/plan/plan.h"
#include "run/plan/replica_set_options.h"

namespace tandem {

/// A trial of shares: the time that a step of each replica takes with its own.
using StepTimes = std::function<std::vector<double>(const std::vector<int64_t>& shares)>;

/// Shares of `units` equal pieces of work with which all take the same time, as nearly as that can be. Begins with
/// `first`. Each next trial takes shares by the rates of the one before, a few times, since a rate depends on the share
/// too. Returns those whose slowest time was the least.
std::vector<int64_t> sharesByRates(int64_t units, std::vector<int64_t> first, const StepTimes& timesOf);

/// The shares of --split=measured: RunPlan::shares by which each replica of all ranks computes for the same time. In a
/// trial all replicas compute steps at once, exchange nothing and update their own weights. Collective where there are
/// ranks; all get the same. `progress`: called with the number of a trial, from 1, and the most.
std::vector<int64_t> measuredShares(const RunPlan& plan, const KernelSelection& kernels, const TrainingData& data,
                                    const std::function<void(int64_t done, int64_t all)>& progress);

}  // namespace tandem
