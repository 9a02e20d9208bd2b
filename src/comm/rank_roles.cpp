#include "comm/rank_roles.h"

#include <algorithm>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/number.h"
#include "base/text.h"

namespace tandem {
namespace {

constexpr int64_t mostTasks = 1'000'000;

struct Task {
  std::string host;
  int port = 0;
  bool operator==(const Task&) const = default;
};

/// "node1:2222", "[::1]:2222".
Task taskFrom(const std::string& option, const std::string& text) {
  const size_t colon = text.rfind(':');
  const auto port = colon == std::string::npos ? std::nullopt : numberWithin(text.substr(colon + 1), 1, lastPort);
  std::string host = text.substr(0, colon == std::string::npos ? 0 : colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (!port || host.empty()) {
    throw UsageError(concat(option, ": '", text, "' is no address; each is a host and a port, as node1:2222"));
  }
  return {isLoopback(host) ? loopback : host, static_cast<int>(*port)};
}

std::vector<Task> tasksFrom(const std::string& option, const std::string& list) {
  std::vector<Task> tasks;
  if (list.empty()) return tasks;
  for (const std::string& text : split(list, ",")) tasks.push_back(taskFrom(option, text));
  return tasks;
}

/// "--job=worker --task-index=1".
std::string rolesText(const RankRoles& roles) {
  return concat("--job=", roles.job, roles.taskIndex < 0 ? "" : concat(" --task-index=", roles.taskIndex));
}

/// Which of its job this process is.
int64_t numberOf(const RankRoles& roles, const std::string& kind) {
  const bool behind = roles.job.size() > kind.size();
  if (!behind) return std::max<int64_t>(0, roles.taskIndex);
  const auto number = numberWithin(roles.job.substr(kind.size() + 1), 0, mostTasks);
  if (!number) {
    throw UsageError(concat(rolesText(roles), ": behind the colon stands a number from 0, as ", kind, ":0"));
  }
  if (roles.taskIndex >= 0) {
    throw UsageError(concat(rolesText(roles), ": both say the number of this process; leave --task-index away"));
  }
  return *number;
}

/// "worker" or "ps".
std::string kindOf(const RankRoles& roles) {
  const std::string kind = roles.job.substr(0, roles.job.find(':'));
  if (kind == "worker" || kind == "ps") return kind;
  throw UsageError(concat(rolesText(roles), ": a process is a worker, which trains, or a ps, which serves variables"));
}

void checkLists(const RankRoles& roles, const std::vector<Task>& all) {
  if (roles.workerHosts.empty()) {
    throw UsageError(concat(rolesText(roles), " needs --worker-hosts, the addresses of all workers, as node1:2222"));
  }
  for (size_t i = 0; i < all.size(); ++i) {
    const auto before = std::span(all).first(i);
    if (std::ranges::find(before, all[i]) == before.end()) continue;
    throw UsageError(concat("--worker-hosts=", roles.workerHosts, " --ps-hosts=", roles.psHosts, ": ", all[i].host, ':',
                            all[i].port, " is there twice; each process has an address of its own"));
  }
}

void checkAlone(const RankRoles& roles, const Variables& variables) {
  const auto launched = rankPlaceFromEnvironment(variables);
  if (!launched) return;
  throw UsageError(concat(rolesText(roles), " with a launcher (", launched->launcher,
                          "), which gives this process a place too; start it by itself, or leave --job away"));
}

RankPlace placeOf(const std::vector<Task>& all, int64_t rank, const std::string& run) {
  const auto own = all.begin() + rank;
  const auto isHere = [&](const Task& task) { return task.host == own->host; };
  return {.rank = static_cast<int>(rank),
          .size = static_cast<int>(all.size()),
          .localRank = static_cast<int>(std::count_if(all.begin(), own, isHere)),
          .localSize = static_cast<int>(std::ranges::count_if(all, isHere)),
          .host = all.front().host,
          .port = all.front().port,
          .run = run};
}

}  // namespace

std::optional<RoledRank> rankPlaceFromRoles(const RankRoles& roles, const Variables& variables) {
  if (roles.job.empty()) {
    const bool lists = !roles.workerHosts.empty() || !roles.psHosts.empty();
    if (!lists && roles.taskIndex < 0) return std::nullopt;
    throw UsageError(concat(lists ? "--worker-hosts and --ps-hosts need" : "--task-index needs",
                            " --job, which says what this process is: worker:0, ps:0, ..."));
  }
  const std::string kind = kindOf(roles);
  const int64_t number = numberOf(roles, kind);
  const std::vector<Task> workers = tasksFrom("--worker-hosts", roles.workerHosts);
  const std::vector<Task> servers = tasksFrom("--ps-hosts", roles.psHosts);
  std::vector<Task> all = workers;
  all.insert(all.end(), servers.begin(), servers.end());
  checkLists(roles, all);
  const bool serves = kind == "ps";
  const auto count = std::ssize(serves ? servers : workers);
  if (number >= count) {
    throw UsageError(concat(rolesText(roles), ": ", serves ? "--ps-hosts" : "--worker-hosts", " has ", count,
                            count == 1 ? " address" : " addresses", ", and numbers count from 0"));
  }
  checkAlone(roles, variables);
  RoledRank found{.place = placeOf(all, serves ? std::ssize(workers) + number : number,
                                   concat("roles ", roles.workerHosts, ' ', roles.psHosts)),
                  .workers = std::ssize(workers),
                  .servers = std::ssize(servers)};
  found.place.interface = variables(interfaceVariable).value_or("");
  return found;
}

}  // namespace tandem
