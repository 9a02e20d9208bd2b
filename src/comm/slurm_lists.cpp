#include "comm/slurm_lists.h"

#include <cctype>

#include "base/number.h"
#include "base/text.h"

namespace tandem {
namespace {

constexpr int64_t mostNodes = 1'000'000;

bool isPartOfHost(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' || c == '_';
}

/// "2(x3)" or "2".
std::optional<NodeTasks> nodeTasks(std::string_view text) {
  NodeTasks found;
  if (text.ends_with(')')) {
    const size_t times = text.find("(x");
    if (times == std::string_view::npos) return std::nullopt;
    const auto count = numberWithin(text.substr(times + 2, text.size() - times - 3), 1, mostNodes);
    if (!count) return std::nullopt;
    found.count = *count;
    text = text.substr(0, times);
  }
  const auto tasks = numberWithin(text, 1, mostNodes);
  if (!tasks) return std::nullopt;
  found.tasks = *tasks;
  return found;
}

}  // namespace

std::string firstHost(std::string_view hosts) {
  std::string host;
  for (size_t i = 0; i < hosts.size() && hosts[i] != ','; ++i) {
    if (hosts[i] == '[') {
      const size_t end = hosts.find(']', i);
      if (end == std::string_view::npos) return "";
      const std::string_view ranges = hosts.substr(i + 1, end - i - 1);
      const std::string_view first = ranges.substr(0, ranges.find_first_of("-,"));
      if (first.empty() || first.find_first_not_of("0123456789") != std::string_view::npos) return "";
      host += first;
      i = end;
    } else if (isPartOfHost(hosts[i])) {
      host += hosts[i];
    } else {
      return "";
    }
  }
  return host;
}

std::vector<NodeTasks> tasksPerNode(std::string_view list) {
  std::vector<NodeTasks> nodes;
  for (const std::string& part : split(list, ",")) {
    const auto found = nodeTasks(part);
    if (!found) return {};
    nodes.push_back(*found);
  }
  return nodes;
}

}  // namespace tandem
