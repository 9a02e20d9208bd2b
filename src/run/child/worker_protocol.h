#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

#include "config/config.h"
#include "run/run_point.h"

namespace tandem {

/// Where the worker writes its lines.
constexpr int workerOutput = 3;

/// What a worker is asked to do; one JSON object.
struct WorkerOrder {
  Config config;
  pid_t parent = 0;  ///< the worker ends when this process does
};
std::string toText(const WorkerOrder& order);
/// Throws UsageError when the text is no order.
WorkerOrder orderFromText(const std::string& text);

/// The lines of a worker: {"start": RECORD} with what the run will be measured on, {"progress": ...} and, last,
/// {"record": RECORD}.
struct WorkerEvents {
  std::function<void(RunRecord)> start;
  ProgressCallback progress;
  std::function<void(RunRecord)> record;
};
std::string startLine(const RunRecord& record);
std::string progressLine(const Progress& progress);
std::string recordLine(const RunRecord& record);
/// Throws InternalError when the line is none of the three.
void readLine(const std::string& line, const WorkerEvents& events);

}  // namespace tandem
