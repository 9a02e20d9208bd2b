#include "run/child/rank_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "measure/record/merged_record.h"
#include "measure/record/record_json.h"

namespace tandem {

using nlohmann::json;

namespace {

json toJson(const ReplicaFlight& flight) {
  return {{"step", flight.step},     {"started", flight.started}, {"finished", flight.finished},
          {"before", flight.before}, {"bytes", flight.bytes},     {"span", flight.span}};
}

ReplicaFlight replicaFrom(const json& object) {
  return {.step = object.at("step"),
          .started = object.at("started"),
          .finished = object.at("finished"),
          .before = object.at("before"),
          .bytes = object.at("bytes"),
          .span = object.at("span")};
}

/// A collective that a rank has not started, although another one has.
struct Missed {
  const RankReport* rank;
  int64_t collective;           // over all steps
  const ReplicaFlight* waiter;  // of a rank that has started it
};

/// Ranks that only serve keep no log.
std::optional<Missed> firstMissed(std::span<const RankReport> reports, size_t replica) {
  std::vector<const RankReport*> logged;
  for (const RankReport& report : reports) {
    if (replica < report.flight.replicas.size()) logged.push_back(&report);
  }
  const auto started = [&](const RankReport* report) { return report->flight.replicas[replica].started; };
  const RankReport* const least = *std::ranges::min_element(logged, {}, started);
  const RankReport* const most = *std::ranges::max_element(logged, {}, started);
  if (started(least) == started(most)) return std::nullopt;
  return Missed{least, started(least), &most->flight.replicas[replica]};
}

/// The one that comes first in the order of collectives, over all replicas.
std::optional<Missed> firstMissed(std::span<const RankReport> reports) {
  std::optional<Missed> first;
  for (size_t replica = 0; replica < reports.front().flight.replicas.size(); ++replica) {
    const auto missed = firstMissed(reports, replica);
    if (missed && (!first || missed->collective < first->collective)) first = missed;
  }
  return first;
}

std::string collectiveText(const Missed& missed) {
  const ReplicaFlight& waiter = *missed.waiter;
  if (waiter.step < 0) return concat("collective ", missed.collective, " before the first step");
  if (missed.collective < waiter.before) return concat("collective ", missed.collective, " of the run");
  return concat("collective ", missed.collective - waiter.before, " of step ", waiter.step);
}

Outcome peerFailure(std::string reason) { return {OutcomeKind::failed, ExitCode::peer, std::move(reason)}; }

Outcome missedOutcome(const Missed& missed, double timeoutSeconds) {
  return peerFailure(concat(nameOf(*missed.rank), " did not arrive at ", collectiveText(missed), " within ",
                            secondsText(timeoutSeconds), "; last seen ", whereText(missed.rank->flight),
                            missed.rank->stopped ? ", stopped by SIGSTOP or a debugger" : ""));
}

/// The outcome of a rank, with its name and what it did.
Outcome namedOutcome(const RankReport& report) {
  Outcome outcome = report.record.outcome;
  outcome.reason = concat(nameOf(report), ", ", whereText(report.flight), ": ", outcome.reason);
  return outcome;
}

/// The earliest report with this end; null: there is none.
const RankReport* earliest(std::span<const RankReport> reports, std::initializer_list<RankEnd> ends) {
  const RankReport* first = nullptr;
  for (const RankReport& report : reports) {
    if (std::ranges::find(ends, report.end) == ends.end()) continue;
    if (first == nullptr || report.after < first->after) first = &report;
  }
  return first;
}

}  // namespace

std::string toText(const RankReport& report) {
  json replicas = json::array();
  for (const ReplicaFlight& replica : report.flight.replicas) replicas.push_back(toJson(replica));
  return json{{"rank", report.rank},       {"host", report.host},
              {"process", report.process}, {"end", static_cast<int>(report.end)},
              {"after", report.after},     {"stopped", report.stopped},
              {"waited", report.waited},   {"stage", static_cast<int>(report.flight.stage)},
              {"replicas", replicas},      {"record", toJson(report.record)}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

RankReport reportFromText(const std::string& text) {
  try {
    const auto object = json::parse(text);
    RankReport report{.rank = object.at("rank"),
                      .host = object.at("host"),
                      .process = object.at("process"),
                      .end = static_cast<RankEnd>(object.at("end").get<int>()),
                      .after = object.at("after"),
                      .stopped = object.at("stopped"),
                      .waited = object.at("waited"),
                      .flight = {.stage = static_cast<Stage>(object.at("stage").get<int>()), .replicas = {}},
                      .record = recordFromJson(object.at("record"))};
    for (const json& replica : object.at("replicas")) report.flight.replicas.push_back(replicaFrom(replica));
    return report;
  } catch (const json::exception& failure) {
    throw InternalError(concat("a rank's report cannot be read: ", failure.what()));
  }
}

std::string nameOf(const RankReport& report) {
  return concat("rank ", report.rank, " (", report.host, ", pid ", report.process, ')');
}

std::string whereText(const ProcessFlight& flight) {
  if (flight.stage != Stage::training || flight.replicas.empty()) return concat("while ", nameOf(flight.stage));
  const ReplicaFlight& last = *std::ranges::min_element(flight.replicas, {}, &ReplicaFlight::step);
  if (last.step < 0) return "before its first step";
  if (last.span.empty()) return concat("after step ", last.step);
  return concat("in phase ", last.span, " of step ", last.step);
}

Outcome outcomeOf(std::span<const RankReport> reports, double timeoutSeconds) {
  if (std::ranges::all_of(reports, [](const RankReport& each) { return each.end == RankEnd::finished; })) return {};
  if (const auto* own = earliest(reports, {RankEnd::failed, RankEnd::lost})) return namedOutcome(*own);
  if (const auto missed = firstMissed(reports)) return missedOutcome(*missed, timeoutSeconds);
  const auto stopped = std::ranges::find(reports, true, &RankReport::stopped);
  if (stopped != reports.end()) {
    return peerFailure(concat(nameOf(*stopped), " was stopped by SIGSTOP or a debugger, ", whereText(stopped->flight)));
  }
  if (const auto* stood = earliest(reports, {RankEnd::stood, RankEnd::blames})) return namedOutcome(*stood);
  return {OutcomeKind::failed, ExitCode::internal, "the run was ended"};
}

RunRecord recordOf(std::span<const RankReport> reports, double timeoutSeconds) {
  const Outcome outcome = reports.size() == 1 ? reports.front().record.outcome : outcomeOf(reports, timeoutSeconds);
  if (outcome.kind == OutcomeKind::ok) {
    std::vector<RunRecord> records;
    for (const RankReport& report : reports) records.push_back(report.record);
    return mergedRecord(std::move(records));
  }
  RunRecord record = reports.front().record;
  record.outcome = outcome;
  return record;
}

}  // namespace tandem
