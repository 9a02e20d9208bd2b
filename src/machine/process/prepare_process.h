#pragma once

namespace tandem {

/// What a process of this program needs before anything else. Descriptors 0 to 2 become open, so that no file that is
/// opened later takes the place of one. A file that grows too large becomes an error instead of a signal. A
/// ChildProcess is killed when its parent ends. A process that has taken its CPU time ends with one line.
///
/// Throws StorageError if standard output is closed, UsageError if a limit is too low (requireLimits()). (A program
/// with this function ends before main() with exit code 2 and one line if the current folder is gone, and ends by
/// signals as endOnSignals() says from then on, unless it is a child.)
void prepareProcess();

}  // namespace tandem
