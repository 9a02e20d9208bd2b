#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "trace/span_kind.h"

namespace tandem {

/// Where a fault is put into a run. From `data` to `optimizer` it strikes in a step.
enum class FaultPhase {
  beforeRendezvous,
  afterRendezvous,
  data,
  forward,
  backward,
  collective,
  optimizer,
  write,
  rename,
  exit
};

/// What happens there.
enum class FaultKind {
  sigkill,
  sigstop,
  segv,
  abort,
  exception,
  exit0,            ///< the process ends with exit code 0, without a result
  outOfMemory,      ///< an allocation fails
  skipCollective,   ///< one collective between ranks is left out
  shortCollective,  ///< one is started with half of its values
  flipBit,          ///< a bit of a weight is changed
};

/// A fault that --inject puts into a run: "rank=2,step=7,phase=backward,kind=sigkill".
struct Fault {
  int64_t rank = 0, replica = 0;  ///< the replica among those of its rank
  int64_t step = 0;               ///< from 0, warm-up included
  FaultPhase phase = FaultPhase::data;
  FaultKind kind = FaultKind::sigkill;
  std::optional<int64_t> attempt = 0;  ///< of a launcher that starts ranks again; empty: in each

  bool operator==(const Fault&) const = default;
};

/// What is wrong with such a text; empty: nothing.
std::string breachOfFault(const std::string& text);
/// Throws UsageError.
Fault faultFrom(const std::string& text);
/// "rank, step, ..." as help and errors say it.
std::string faultForm();

/// Arms a fault in this process, until its end. Call it once, before other threads start.
void armFault(const Fault& fault);
/// Strikes here if the armed fault is of this phase, which is none of a step. It may not return, and may throw.
void faultAt(FaultPhase phase);
/// Whether a fault was armed and has not struck.
bool faultIsPending();

/// The armed fault as a replica's thread sees it.
class ReplicaFault {
 public:
  /// Empty if none is armed for this replica.
  static std::optional<ReplicaFault> of(int replica);
  /// Strikes in this step if the fault's phase is that of such spans. It may not return, and may throw.
  void atSpan(SpanKind kind, int64_t step);
  /// Strikes after a collective was started.
  void afterCollective(int64_t step);
  /// Whether this collective, or this update, shall be spoiled so. True once.
  bool spoils(FaultKind kind, int64_t step);
};

}  // namespace tandem
