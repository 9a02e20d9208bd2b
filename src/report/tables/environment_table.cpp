#include <algorithm>

#include "base/text.h"
#include "report/tables/point_label.h"
#include "report/tables/tables.h"

namespace tandem {
namespace {

std::string counted(int64_t count) { return count > 0 ? std::to_string(count) : "unknown"; }

std::string known(const std::string& text) { return text.empty() ? "unknown" : oneLine(text); }

std::string pairsText(const std::map<std::string, std::string>& pairs, char between) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : pairs) parts.push_back(concat(name, between, value));
  return oneLine(join(parts));
}

/// Each text with its GPUs or pairs of GPUs; without them if one text covers all.
std::string groupedText(const std::map<std::string, std::vector<std::string>>& whose) {
  std::vector<std::string> parts;
  for (const auto& [text, which] : whose) {
    parts.push_back(whose.size() == 1 ? text : concat(text, " (", join(which, " "), ')'));
  }
  return oneLine(join(parts, "; "));
}

std::string linksText(const Environment& environment) {
  if (environment.devices.size() < 2) return "none";
  std::map<std::string, std::vector<std::string>> pairs;
  for (const auto& [a, b, path, access, atomics] : environment.gpuLinks) {
    pairs[concat(path, ", peer access ", access, ", atomics ", atomics)].push_back(concat(a, '-', b));
  }
  return known(groupedText(pairs));
}

/// The widest link that GPU and system allow. The current state of an idle link says nothing.
std::string slotsText(const Environment& environment) {
  if (environment.devices.empty()) return "none";
  std::map<std::string, std::vector<std::string>> gpus;
  for (size_t i = 0; i < environment.gpuSlots.size(); ++i) {
    const GpuSlot& slot = environment.gpuSlots[i];
    gpus[concat("PCIe gen ", counted(slot.largestGeneration), " x", counted(slot.mostLanes))].push_back(concat(i));
  }
  return known(groupedText(gpus));
}

std::string range(double low, double high) {
  if (high < 0) return "unknown";
  return low == high ? fixed(low, 2) : concat(fixed(low, 2), " to ", fixed(high, 2));
}

/// Of all hosts of a run, rank 0's first.
std::vector<const Environment*> environmentsOf(const RunRecord& run) {
  std::vector<const Environment*> all{&run.environment};
  for (const HostRecord& host : run.otherHosts) all.push_back(&host.environment);
  return all;
}

/// Runs in the same environment.
struct Group {
  std::vector<EnvironmentFact> facts;
  std::vector<size_t> rows;
  double lowLoad, highLoad;
};

void add(std::vector<Group>& groups, size_t row, const RunRecord& run) {
  auto facts = factsOf(run);
  auto group = std::ranges::find(groups, facts, &Group::facts);
  if (group == groups.end()) {
    groups.push_back({std::move(facts), {}, run.environment.load1, run.environment.load1});
    group = groups.end() - 1;
  }
  if (group->rows.empty() || group->rows.back() != row) group->rows.push_back(row);
  for (const Environment* of : environmentsOf(run)) {
    group->lowLoad = std::min(group->lowLoad, of->load1);
    group->highLoad = std::max(group->highLoad, of->load1);
  }
}

std::vector<Group> grouped(const ReportRuns& runs) {
  std::vector<Group> groups;
  for (size_t row = 1; row <= runs.groups().size(); ++row) {
    for (const RunRecord* run : runs.groups()[row - 1].runs) add(groups, row, *run);
  }
  return groups;
}

}  // namespace

std::vector<EnvironmentFact> factsOf(const Environment& environment) {
  const double memory = static_cast<double>(environment.memoryBytes);
  return {
      {"host", known(environment.host), FactOf::machine},
      {"system", known(environment.os)},
      {"kernel", known(environment.kernel)},
      {"cpu", known(environment.cpu), FactOf::machine},
      {"cores", counted(environment.cores), FactOf::machine},
      {"hardware threads", counted(environment.hardwareThreads), FactOf::machine},
      {"sockets", counted(environment.sockets), FactOf::machine},
      {"NUMA nodes", counted(environment.numaNodes), FactOf::machine},
      {"caches", known(join(environment.caches))},
      {"features", known(join(environment.cpuFeatures, " "))},
      {"memory", environment.memoryBytes > 0 ? bytesText(memory) : "unknown", FactOf::machine},
      {"governor", known(environment.governor)},
      {"gpus", environment.devices.empty() ? "none" : oneLine(join(environment.devices)), FactOf::machine},
      {"gpu links", linksText(environment), FactOf::machine},
      {"gpu slots", slotsText(environment)},
      {"libraries", pairsText(environment.libraries, ' '), FactOf::build},
      {"variables", environment.variables.empty() ? "none" : pairsText(environment.variables, '=')},
      {"tandem", known(environment.tandemVersion), FactOf::build},
      {"commit", known(environment.commit) + (environment.dirty ? " with uncommitted changes" : ""), FactOf::build}};
}

std::vector<EnvironmentFact> factsOf(const RunRecord& record) {
  std::vector<std::vector<EnvironmentFact>> hosts;
  for (const Environment* of : environmentsOf(record)) hosts.push_back(factsOf(*of));
  std::vector<EnvironmentFact> facts = hosts.front();
  for (size_t i = 0; i < facts.size(); ++i) {
    std::vector<std::string> values;
    for (const auto& host : hosts) values.push_back(host[i].value);
    const bool differ = std::ranges::any_of(values, [&](const std::string& value) { return value != values.front(); });
    if (differ) facts[i].value = join(values, "; ");
  }
  return facts;
}

ResultTable environmentTable(const ReportRuns& runs) {
  ResultTable table{{{"fact", "", false}}, {}, {}, "", 1};
  const auto groups = grouped(runs);
  for (size_t i = 0; i < groups.size(); ++i) {
    table.columns.push_back({groups.size() == 1 ? "all runs" : concat("environment ", i + 1), "", false});
  }
  if (groups.empty()) return table;
  TableRow rows{{"runs"}, ""}, load{{"load before"}, ""};
  for (const Group& group : groups) {
    rows.cells.push_back(rowsText(group.rows));
    load.cells.push_back(range(group.lowLoad, group.highLoad));
  }
  if (groups.size() > 1) table.rows.push_back(rows);
  for (size_t fact = 0; fact < groups.front().facts.size(); ++fact) {
    TableRow row{{groups.front().facts[fact].name}, ""};
    for (const Group& group : groups) row.cells.push_back(group.facts[fact].value);
    table.rows.push_back(std::move(row));
  }
  table.rows.push_back(load);
  if (groups.size() > 1) table.notes.emplace_back("the runs were measured in different environments");
  return table;
}

}  // namespace tandem
