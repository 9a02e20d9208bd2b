#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "run/links/link_order.h"

namespace tandem {

/// How the processes of a part ended.
enum class LinkEnd { done, stopped };

/// Runs a part in child processes, one for each order, and hands on their series as they come. Ends them when
/// PointRunner::requestStop() was called. Throws Error with the failure of a process, and InvalidMeasurement if they do
/// not end within `patience` seconds.
LinkEnd runLinkProcesses(const std::string& executable, const std::vector<LinkOrder>& orders, double patience,
                         const LinkSink& sink);

/// What a process writes to its parent: a series, or why it failed. One line each, without its end.
std::string failureLine(ExitCode code, const std::string& reason);
/// Hands a series on. Throws Error for a failure, InternalError if the line is neither.
void readLinkLine(const std::string& line, const LinkSink& sink);

}  // namespace tandem
