#include "trace/fault.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string_view>

#include "base/error.h"
#include "base/number.h"
#include "base/text.h"

namespace tandem {
namespace {

constexpr int64_t most = 1'000'000'000;
constexpr std::string_view anyAttempt = "any";

/// The spans at whose begin a fault of a phase strikes: those of a step.
struct PhaseRow {
  std::string_view name;
  std::optional<SpanKind> span = {};
};
constexpr std::array phases{PhaseRow{"before_rdzv"},
                            PhaseRow{"after_rdzv"},
                            PhaseRow{"data", SpanKind::input},
                            PhaseRow{"forward", SpanKind::forward},
                            PhaseRow{"backward", SpanKind::backward},
                            PhaseRow{"mid_allreduce"},
                            PhaseRow{"optimizer", SpanKind::update},
                            PhaseRow{"ckpt_write"},
                            PhaseRow{"ckpt_rename"},
                            PhaseRow{"exit"}};

/// `only`: the phase that a kind needs.
struct KindRow {
  std::string_view name;
  std::optional<FaultPhase> only = {};
};
constexpr std::array kinds{KindRow{"sigkill"},
                           KindRow{"sigstop"},
                           KindRow{"segv"},
                           KindRow{"abort"},
                           KindRow{"exception"},
                           KindRow{"exit0"},
                           KindRow{"out-of-memory"},
                           KindRow{"skip-collective", FaultPhase::collective},
                           KindRow{"short-collective", FaultPhase::collective},
                           KindRow{"flip-bit", FaultPhase::optimizer}};

template <class Row, size_t count>
std::string namesOf(const std::array<Row, count>& rows) {
  std::vector<std::string> names;
  for (const Row& row : rows) names.emplace_back(row.name);
  return join(names);
}

/// Index of the row; empty: none has the name.
template <class Row, size_t count>
std::optional<size_t> indexIn(const std::array<Row, count>& rows, std::string_view name) {
  const auto row = std::ranges::find(rows, name, &Row::name);
  return row == rows.end() ? std::nullopt : std::optional(static_cast<size_t>(row - rows.begin()));
}

std::string setNumber(Fault& fault, std::string_view name, std::string_view value) {
  if (name == "attempt" && value == anyAttempt) return fault.attempt.reset(), "";
  const auto number = numberWithin(value, 0, most);
  if (!number) return concat(name, '=', value, " must be a whole number from 0 on");
  if (name == "rank") fault.rank = *number;
  if (name == "replica") fault.replica = *number;
  if (name == "step") fault.step = *number;
  if (name == "attempt") fault.attempt = *number;
  return "";
}

/// Returns what is wrong.
std::string setPart(Fault& fault, std::string_view part) {
  const size_t equals = part.find('=');
  const std::string_view name = part.substr(0, equals),
                         value = equals == std::string_view::npos ? "" : part.substr(equals + 1);
  if (name == "phase") {
    const auto phase = indexIn(phases, value);
    if (!phase) return concat("phase=", value, " must be one of ", namesOf(phases));
    fault.phase = static_cast<FaultPhase>(*phase);
    return "";
  }
  if (name == "kind") {
    const auto kind = indexIn(kinds, value);
    if (!kind) return concat("kind=", value, " must be one of ", namesOf(kinds));
    fault.kind = static_cast<FaultKind>(*kind);
    return "";
  }
  constexpr std::array<std::string_view, 4> numbers{"rank", "replica", "step", "attempt"};
  if (std::ranges::find(numbers, name) != numbers.end()) return setNumber(fault, name, value);
  return concat("'", part, "': it has the form ", faultForm());
}

std::string parse(const std::string& text, Fault& fault) {
  for (const std::string& part : split(text, ",")) {
    const std::string breach = setPart(fault, part);
    if (!breach.empty()) return breach;
  }
  for (const std::string_view needed : {"phase=", "kind="}) {
    if (text.find(needed) == std::string::npos) return concat("needs ", needed, ", as in ", faultForm());
  }
  const KindRow& kind = kinds.at(static_cast<size_t>(fault.kind));
  if (!kind.only || *kind.only == fault.phase) return "";
  return concat("kind=", kind.name, " needs phase=", phases.at(static_cast<size_t>(*kind.only)).name);
}

/// The fault of this process.
struct Armed {
  Fault fault;
  std::atomic<bool> struck{false};
};
Armed* armed = nullptr;

[[noreturn]] void raiseNow(int signal) {
  ::signal(signal, SIG_DFL);
  ::raise(signal);
  std::abort();
}

/// A stopped process goes on when it is told to.
void strike(FaultKind kind) {
  switch (kind) {
    case FaultKind::sigkill:
      raiseNow(SIGKILL);
    case FaultKind::segv:
      raiseNow(SIGSEGV);
    case FaultKind::abort:
      std::abort();
    case FaultKind::exit0:
      ::_exit(0);
    case FaultKind::sigstop:
      ::raise(SIGSTOP);
      return;
    case FaultKind::exception:
      throw std::runtime_error("an exception that --inject put here");
    case FaultKind::outOfMemory:
      throw std::bad_alloc();
    case FaultKind::skipCollective:
    case FaultKind::shortCollective:
    case FaultKind::flipBit:
      return;  // whoever asks spoils()
  }
}

/// Whether the fault strikes now: it is pending, and this is its phase. True once.
bool takes(FaultPhase phase) {
  return armed != nullptr && armed->fault.phase == phase && !armed->struck.exchange(true);
}

bool spoilsOnly(FaultKind kind) { return kinds.at(static_cast<size_t>(kind)).only.has_value(); }

}  // namespace

std::string faultForm() {
  return concat("rank=R,step=S,phase=PHASE,kind=KIND[,replica=I][,attempt=N|any]; phases: ", namesOf(phases),
                "; kinds: ", namesOf(kinds));
}

std::string breachOfFault(const std::string& text) {
  Fault fault;
  return parse(text, fault);
}

Fault faultFrom(const std::string& text) {
  Fault fault;
  const std::string breach = parse(text, fault);
  if (!breach.empty()) throw UsageError(concat("--inject=", text, ": ", breach));
  return fault;
}

void armFault(const Fault& fault) {
  static Armed own;
  own.fault = fault;
  own.struck = false;
  armed = &own;
}

bool faultIsPending() { return armed != nullptr && !armed->struck.load(); }

void faultAt(FaultPhase phase) {
  if (takes(phase)) strike(armed->fault.kind);
}

std::optional<ReplicaFault> ReplicaFault::of(int replica) {
  return armed != nullptr && armed->fault.replica == replica ? std::optional(ReplicaFault()) : std::nullopt;
}

void ReplicaFault::atSpan(SpanKind kind, int64_t step) {
  const Fault& fault = armed->fault;
  if (step != fault.step || phases.at(static_cast<size_t>(fault.phase)).span != kind || spoilsOnly(fault.kind)) return;
  faultAt(fault.phase);
}

void ReplicaFault::afterCollective(int64_t step) {
  if (step == armed->fault.step && !spoilsOnly(armed->fault.kind)) faultAt(FaultPhase::collective);
}

bool ReplicaFault::spoils(FaultKind kind, int64_t step) {
  return armed->fault.kind == kind && step == armed->fault.step && takes(armed->fault.phase);
}

}  // namespace tandem
