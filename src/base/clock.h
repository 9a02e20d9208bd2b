#pragma once

#include <chrono>

namespace tandem {

/// The one clock of all measurements: monotonic, never set back.
using Clock = std::chrono::steady_clock;
using Nanos = std::chrono::nanoseconds;

inline Nanos now() { return std::chrono::duration_cast<Nanos>(Clock::now().time_since_epoch()); }
inline double seconds(Nanos time) { return std::chrono::duration<double>(time).count(); }

}  // namespace tandem
