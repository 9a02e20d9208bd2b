#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/fault.h"
#include "trace/span_kind.h"

namespace tandem {

/// What a process of a run does outside of its steps.
enum class Stage : uint8_t { starting, meeting, preparing, connecting, training, ending };
/// "starting", "meeting the other ranks", ...
std::string_view nameOf(Stage stage);

/// What a replica's thread does, in memory that its parent process can read after a failure. The thread alone writes.
struct alignas(64) FlightSlot {
  std::atomic<int64_t> step{-1};     ///< number of its step, warm-up included; -1: none yet
  std::atomic<int64_t> started{0};   ///< collectives between ranks, over all steps
  std::atomic<int64_t> finished{0};  ///< of these
  std::atomic<int64_t> before{0};    ///< of these, how many had started before the step
  std::atomic<int64_t> bytes{0};     ///< of the last that was started
  std::atomic<uint64_t> sizes{0};    ///< hash of all that were started, by size and number in their group
  std::atomic<uint8_t> span{0};      ///< the innermost open span of the step, as SpanKind + 1; 0: between steps
};
static_assert(std::atomic<int64_t>::is_always_lock_free && std::atomic<uint8_t>::is_always_lock_free);

/// A slot as it was at a time.
struct ReplicaFlight {
  int64_t step = -1, started = 0, finished = 0, before = 0, bytes = 0;
  std::string span;  ///< "backward"; empty: between steps

  bool operator==(const ReplicaFlight&) const = default;
};

/// Of all replicas of a process.
struct ProcessFlight {
  Stage stage = Stage::starting;
  std::vector<ReplicaFlight> replicas;

  bool operator==(const ProcessFlight&) const = default;
};

/// Memory that a worker shares with its parent: its stage, and a slot for each replica. It has no name in the file
/// system, and is gone with the two. Notes in it cost a store each, so runs keep it always; it is read after a failure,
/// and some times a second to see whether a rank still moves.
class FlightMemory {
 public:
  /// The parent's. Throws StorageError if the system refuses it.
  explicit FlightMemory(int replicas);
  /// The worker's: that of descriptor `descriptor`, which its parent made. Null if there is none.
  static std::unique_ptr<FlightMemory> inherited(int descriptor);
  ~FlightMemory();
  FlightMemory(const FlightMemory&) = delete;
  FlightMemory& operator=(const FlightMemory&) = delete;

  int descriptor() const { return descriptor_; }  ///< to hand on to the worker
  ProcessFlight read() const;
  void enter(Stage stage);
  FlightSlot* slot(int replica);  ///< null beyond its slots

 private:
  struct Header;
  FlightMemory() = default;
  /// False if the system refuses.
  bool map(size_t bytes);

  int descriptor_ = -1;
  size_t bytes_ = 0;
  Header* header_ = nullptr;
};

/// That of this process, a worker; null elsewhere. Set before other threads start.
inline constinit FlightMemory* processFlight = nullptr;

/// Notes the stage of this process, if its parent can read it.
inline void enterStage(Stage stage) {
  if (processFlight != nullptr) processFlight->enter(stage);
}

/// What a replica's thread notes in its slot, and where an armed fault strikes.
class FlightLog {
 public:
  explicit FlightLog(FlightSlot& slot, std::optional<ReplicaFault> fault) : slot_(slot), fault_(fault) {}

  void beginStep(int64_t step) {
    step_ = step;
    slot_.step.store(step, std::memory_order_relaxed);
    slot_.before.store(slot_.started.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  /// Returns what leave() puts back.
  uint8_t enter(SpanKind kind) {
    const uint8_t around = slot_.span.load(std::memory_order_relaxed);
    if (around == 0 && kind != SpanKind::step) return around;
    slot_.span.store(static_cast<uint8_t>(kind) + 1, std::memory_order_relaxed);
    if (fault_) fault_->atSpan(kind, step_);
    return around;
  }
  void leave(uint8_t around) noexcept { slot_.span.store(around, std::memory_order_relaxed); }

  /// `number`: of the collective in its group. Groups may take turns in another order on other ranks.
  void startCollective(int64_t bytes, int64_t number);
  void finishCollective() noexcept {
    slot_.finished.store(slot_.finished.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// Whether the next collective, or the weights after this step, shall be spoiled so.
  bool spoils(FaultKind kind) { return fault_ && fault_->spoils(kind, step_); }
  /// "12 6ba1...": how many collectives were started, and the hash of their sizes and their order in each group.
  std::string collectives() const;

 private:
  FlightSlot& slot_;
  std::optional<ReplicaFault> fault_;
  int64_t step_ = -1;
};

/// The log of this thread. Null: nobody reads it, and a note costs a load and a branch.
inline thread_local constinit FlightLog* threadFlight = nullptr;

/// Keeps a log for the calling thread while it lives, if this process has memory for one.
class FlightLogging {
 public:
  explicit FlightLogging(int replica);
  ~FlightLogging() { threadFlight = nullptr; }
  FlightLogging(const FlightLogging&) = delete;
  FlightLogging& operator=(const FlightLogging&) = delete;

 private:
  std::optional<FlightLog> log_;
};

}  // namespace tandem
