#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "base/text.h"
#include "measure/profile/attribution.h"
#include "report/tables/point_label.h"
#include "report/tables/tables.h"

namespace tandem {
namespace {

constexpr double noticeable = 0.01, shown = 0.0005;  // share of a step
constexpr double mega = 1e6, giga = 1e9;
constexpr size_t mostExchanges = 16;  // in a table
constexpr double leastHeadroom = 1.01;

std::string milliseconds(std::optional<double> time) { return time ? fixed(1e3 * *time, 2) : ""; }
std::string percent(double share) { return fixed(100 * share, 1) + " %"; }

/// The parts that take time in some step.
std::vector<const Part*> partsOf(const Profile& profile) {
  std::vector<const Part*> found;
  for (const Part& part : stepParts()) {
    if (shareOf(profile.replicas, part.time).value_or(0) > 0) found.push_back(&part);
  }
  return found;
}

std::string cellOf(const ReplicaProfile& replica, const Part& part) {
  const auto share = shareOf({&replica, 1}, part.time);
  return concat(milliseconds(medianSeconds(replica, part.time)), share ? concat(" (", percent(*share), ")") : "");
}

/// "the step: backward 52.0 %, forward 31.0 %, ...", the largest part first.
std::string composition(const Profile& profile) {
  auto all = partsOf(profile);
  const auto shareOfPart = [&](const Part* part) { return shareOf(profile.replicas, part->time).value_or(0); };
  std::ranges::stable_sort(all, std::ranges::greater{}, shareOfPart);
  std::vector<std::string> texts;
  for (const Part* part : all) {
    if (shareOfPart(part) >= shown) texts.push_back(concat(part->heading, " ", percent(shareOfPart(part))));
  }
  return "the step of all replicas: " + join(texts);
}

std::string arrivalText(const LastToArrive& last) {
  return concat(last.straggler ? "straggler: replica " : "no straggler: replica ", last.replica,
                " comes last to the exchange in ", percent(last.share), " of ", last.steps, " steps, ",
                milliseconds(last.leadSeconds), " ms after the others in the median");
}

/// "how many times as fast the step would be at most: 1.62 with compute at the measured peak (57.1 % of it now), 1.11
/// without idle". Empty where nothing is to be gained.
std::optional<std::string> headroomText(const RunRecord& record) {
  std::vector<std::string> texts;
  for (const Headroom& room : headroomOf(record)) {
    if (room.factor < leastHeadroom) continue;
    const std::string now =
        room.rateNow ? concat(" at the measured peak (", percent(*room.rateNow), " of it now)") : "";
    texts.push_back(concat(fixed(room.factor, 2), room.rateNow ? " with " : " without ", room.name, now));
  }
  if (texts.empty()) return std::nullopt;
  return "how many times as fast the step would be at most: " + join(texts);
}

std::vector<std::string> notesOf(const RunRecord& record) {
  const Profile& profile = *record.profile;
  std::vector<std::string> notes{composition(profile)};
  if (auto headroom = headroomText(record)) notes.push_back(*std::move(headroom));
  if (const auto last = lastToArrive(record)) notes.push_back(arrivalText(*last));
  notes.push_back(concat("per step and replica: input ", bytesText(static_cast<double>(profile.inputBytes)),
                         ", gradients ", bytesText(static_cast<double>(profile.gradientBytes)), ", received in the ",
                         "exchange ", bytesText(record.traffic.bytesPerStep)));
  if (isCaptured(profile)) {
    notes.emplace_back(
        "the step runs as a CUDA graph, and these are times of the host's thread: where the GPU's time goes is in the "
        "tables of its kernels, and who comes late to an exchange within the graph is not known");
  }
  if (profile.clockError > Nanos{}) {
    notes.push_back(concat("times of replicas on different hosts are ", milliseconds(seconds(profile.clockError)),
                           " ms off at most: so far do their clocks agree, by what ranks told each other"));
  }
  if (profile.every > 1) notes.push_back(concat("one step in ", profile.every, " is kept"));
  if (profile.lostSteps > 0) {
    notes.push_back(
        concat(profile.lostSteps, " steps are left out: they had more spans or arrivals than there was room for"));
  }
  if (profile.device && !profile.device->missing.empty()) {
    notes.push_back(concat("what the GPUs did is not known: ", profile.device->missing));
  }
  return notes;
}

ResultTable partsTable(const RunRecord& record, const std::string& of) {
  const Profile& profile = *record.profile;
  const auto columns = partsOf(profile);
  ResultTable table{{{"replica", "", true}, {"step", "ms", true}}, {}, notesOf(record), "The step taken apart: " + of};
  for (const Part* part : columns) table.columns.push_back({std::string(part->heading), "ms", true});
  for (const ReplicaProfile& replica : profile.replicas) {
    TableRow& row = table.rows.emplace_back();
    row.cells = {concat(table.rows.size() - 1), milliseconds(medianSeconds(replica, &StepParts::wall))};
    for (const Part* part : columns) row.cells.push_back(cellOf(replica, *part));
  }
  return table;
}

std::string rateText(std::optional<double> rate, std::string_view unit) {
  return rate ? concat(fixed(*rate / giga, 2), " G", unit, "/s") : "";
}

ResultTable workTable(const RunRecord& record, const std::string& of) {
  ResultTable table{{{"work of a replica", "", false},
                     {"per step", "", true},
                     {"in", "ms", true},
                     {"achieved", "", true},
                     {"measured peak", "", true},
                     {"at the peak", "ms", true}},
                    {},
                    {},
                    "Work per step: " + of};
  for (const Achieved& work : achievedWork(record)) {
    if (!(work.amount > 0)) continue;
    if (work.peak > 0 && work.rate().value_or(0) > work.peak && table.notes.empty())
      table.notes.emplace_back(
          "a convolution counts as a direct one; Winograd's needs fewer operations, so it may pass the peak");
    const auto peak = work.peak > 0 ? std::optional(work.peak) : std::nullopt;
    table.rows.push_back(
        {{std::string(work.name), concat(fixed(work.amount / mega, 3), " M", work.unit), milliseconds(work.seconds),
          rateText(work.rate(), work.unit), rateText(peak, work.unit), peak ? milliseconds(work.amount / *peak) : ""},
         ""});
  }
  return table;
}

/// The exchanges in which replicas are furthest apart, in the order of the step.
std::vector<size_t> furthestApart(const std::vector<ExchangeArrivals>& exchanges) {
  std::vector<size_t> rows(exchanges.size());
  std::iota(rows.begin(), rows.end(), size_t{0});
  std::ranges::stable_sort(rows, std::ranges::greater{}, [&](size_t i) { return exchanges[i].apart; });
  rows.resize(std::min(rows.size(), mostExchanges));
  std::ranges::sort(rows);
  return rows;
}

ResultTable exchangeTable(const std::vector<ExchangeArrivals>& exchanges, const std::string& of) {
  ResultTable table{{{"exchange", "", true}, {"bytes", "", true}}, {}, {}, "Arrivals at each exchange: " + of, 2};
  const size_t replicas = exchanges.front().after.size();
  for (size_t i = 0; i < replicas; ++i) table.columns.push_back({concat("replica ", i), "ms", true});
  table.columns.insert(table.columns.end(), {{"apart", "ms", true}, {"most often last", "", false}});
  for (const size_t i : furthestApart(exchanges)) {
    const ExchangeArrivals& exchange = exchanges[i];
    TableRow& row = table.rows.emplace_back();
    row.cells = {concat(i + 1), bytesText(static_cast<double>(exchange.bytes))};
    for (const Nanos after : exchange.after) row.cells.push_back(milliseconds(seconds(after)));
    row.cells.push_back(milliseconds(seconds(exchange.apart)));
    const auto most = std::ranges::max_element(exchange.last);
    const auto steps = std::accumulate(exchange.last.begin(), exchange.last.end(), int64_t{0});
    row.cells.push_back(concat("replica ", most - exchange.last.begin(), ", ",
                               percent(static_cast<double>(*most) / static_cast<double>(steps)), " of ", steps,
                               " steps"));
  }
  table.notes.emplace_back(
      "when a replica hands its gradients over, since the first replica began the step; medians of the steps");
  if (table.rows.size() < exchanges.size()) {
    table.notes.push_back(concat("of ", exchanges.size(), " exchanges the ", table.rows.size(),
                                 " with the replicas furthest apart; the record has all"));
  }
  return table;
}

}  // namespace

std::vector<ResultTable> profileTables(const ReportRuns& runs) {
  std::vector<ResultTable> tables;
  for (size_t row = 1; row <= runs.groups().size(); ++row) {
    const RunRecord& record = runs.at(row);
    if (!record.profile || record.outcome.kind != OutcomeKind::ok) continue;
    const std::string of = concat("row ", row, ", ", runs.labelOf(row));
    tables.push_back(partsTable(record, of));
    tables.push_back(workTable(record, of));
    if (!record.profile->exchanges.empty()) tables.push_back(exchangeTable(record.profile->exchanges, of));
    if (record.profile->host) std::ranges::move(callTables(record, of), std::back_inserter(tables));
    if (record.profile->device)
      std::ranges::move(kernelTables(*record.profile->device, of), std::back_inserter(tables));
  }
  return tables;
}

ResultTable changedParts(const Profile& a, const Profile& b) {
  ResultTable table{
      {{"part", "", false}, {"replica", "", true}, {"A", "ms", true}, {"B", "ms", true}, {"B - A", "ms", true}},
      {},
      {},
      "Parts of the step that differ"};
  table.labels = 2;
  for (const PartChange& change : partChanges(a, b)) {
    const auto step = medianSeconds(a.replicas[static_cast<size_t>(change.replica)], &StepParts::wall);
    if (std::abs(change.growth()) < noticeable * step.value_or(0)) continue;
    table.rows.push_back({{std::string(change.part->heading), concat(change.replica), milliseconds(change.before),
                           milliseconds(change.after), milliseconds(change.growth())},
                          ""});
  }
  if (table.rows.empty()) table.notes.emplace_back("none by 1 % of the step or more");
  table.notes.emplace_back("medians of the steps; idle, which follows from what other replicas do, comes last");
  return table;
}

}  // namespace tandem
