#pragma once

namespace tandem {

/// What a process of this program needs before anything else. Descriptors 0 to 2 become open, so that no file that is
/// opened later takes the place of one. A process that has taken its CPU time ends with one line.
///
/// Throws StorageError if standard output is closed, UsageError if a limit is too low (requireLimits()).
///
/// A program with this function does more before main(), and before its libraries start. It ends with exit code 2 and
/// one line if the current folder is gone. A file that grows too large becomes an error instead of a signal. A
/// ChildProcess is killed when its parent ends; another process ends by signals as endOnSignals() says.
void prepareProcess();

}  // namespace tandem
