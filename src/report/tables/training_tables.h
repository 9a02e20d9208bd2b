#pragma once

#include <string>
#include <vector>

#include "report/runs.h"
#include "report/tables/result_table.h"

namespace tandem {

/// A finished training of a report.
struct NamedTraining {
  std::string name;  ///< as ReportRuns::nameOf(); with its time where a row has several
  const RunRecord* run;
};

/// The last twelve trainings among the runs, in their order. Repeats of one are not joined: each has a course of its
/// own.
std::vector<NamedTraining> trainingsOf(const ReportRuns& runs);

/// What became of each training, a row each: epochs, rate, last and best figures, why it ended. Its charts lay the
/// courses over one another. Empty without a training.
std::vector<ResultTable> trainingTables(const ReportRuns& runs);

/// The last ten evaluations of each training, and the best one.
std::vector<ResultTable> evaluationTables(const ReportRuns& runs);

/// What the time of each training went to, with charts of the phases over time.
std::vector<ResultTable> courseTables(const ReportRuns& runs);

/// Why a training ended: "all epochs", "stop-at", "signal, can go on".
std::string endText(const TrainingRecord& training);

}  // namespace tandem
