#pragma once

#include <exception>
#include <string>

#include "base/error.h"

namespace tandem {

/// What an error of the system says of this process's limits (setrlimit(2)), and what to do: "4 open files are the most
/// here (ulimit -n); raise it". Empty for an error that has nothing to do with them.
std::string limitText(int error);

/// A failure with its exit code and its line. Where a limit of this process refused something, it is one of `usage`
/// that names the limit.
Error explained(const std::exception& failure);

/// The CPU time after which the system ends a process of this user, in seconds; infinite without a limit.
double mostCpuSeconds();

/// Has the system send SIGXCPU a second before that time is over. At its end it would send SIGKILL, unexplained.
void askForCpuTimeSignal();

/// Throws UsageError if the stack, the open files or the CPU time are limited to less than this program needs.
void requireLimits();

}  // namespace tandem
