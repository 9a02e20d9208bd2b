#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "comm/rank_place.h"
#include "config/config.h"
#include "run/run_point.h"

namespace tandem {

/// What a worker shall run; one JSON object.
struct WorkerOrder {
  Config config;
  std::string sweepBegin{};  ///< RunPlan::sweepBegin
  RankPlace place{};         ///< of the worker among the ranks of the run
};
std::string toText(const WorkerOrder& order);
/// Throws UsageError if the text is not an order.
WorkerOrder orderFromText(const std::string& text);

/// Handlers for the lines of a worker: {"start": RECORD} with configuration and environment, {"progress": ...},
/// {"warning": TEXT}, and at the end {"record": RECORD}. If a run crashes, the record of its start line is stored. With
/// --verify a measured run sends its record twice, before its steps are compared and after. The last one counts.
struct WorkerEvents {
  std::function<void(RunRecord)> start;
  ProgressCallback progress;
  std::function<void(const std::string& text)> warning;
  std::function<void(RunRecord)> record;
};
std::string startLine(const RunRecord& record);
std::string progressLine(const Progress& progress);
std::string warningLine(const std::string& text);
std::string recordLine(const RunRecord& record);
/// Calls the line's handler. Throws InternalError if it is none of these lines, DataError if its record is invalid.
void readLine(const std::string& line, const WorkerEvents& events);

}  // namespace tandem
