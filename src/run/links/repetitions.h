#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "device/monitor.h"
#include "run/links/link_series.h"

namespace tandem {

/// The threads or processes of a transfer, as one of them sees them. Each calls the same methods in the same order, on
/// one thread.
class Parties {
 public:
  virtual ~Parties() = default;
  /// Waits for all parties, and returns the largest of the values that they gave. Throws PeerError if one failed.
  virtual double largest(double mine) = 0;
};

/// A transfer that one thread alone drives.
class SoleParty final : public Parties {
 public:
  double largest(double mine) override { return mine; }
};

/// Parties that are threads of this process. One object per thread, of one call of threadParties(). `monitor` outlives
/// them; its abort ends every wait.
std::vector<std::unique_ptr<Parties>> threadParties(Monitor& monitor, int count);

/// Runs fn(party) on a thread for each party, and joins them. The first failure aborts the monitor and is rethrown.
void onThreads(Monitor& monitor, int parties, const std::function<void(int)>& fn);

struct RepetitionLimits {
  int64_t most = 20;   ///< repetitions
  double seconds = 1;  ///< after which no further repetition starts
};

/// Repetitions that are made whatever the limits say: fewer have no interval (spreadPercent()).
constexpr int64_t fewestRepetitions = 6;

/// The number of transfers in a row that make a repetition last a millisecond, where the clock's own time does not
/// count. `once`: seconds of one.
int64_t callsPerRepetition(double once);

/// Does a transfer `calls` times and returns the seconds that this party counts.
using Transfer = std::function<double(int64_t calls)>;

/// Repeats a transfer. It is made four times beforehand: the first touches the memory, the quickest of the others says
/// how many fit into a repetition. The time of a repetition is that of the slowest party. All parties get the same
/// result.
LinkTimes timesOf(Parties& parties, const RepetitionLimits& limits, const Transfer& transfer);

}  // namespace tandem
