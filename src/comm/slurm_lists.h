#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

/// The first host of a list of Slurm's: "node01" of "node[01-04,7],login". Empty if the text is no such list.
std::string firstHost(std::string_view hosts);

/// Tasks on `count` nodes after one another.
struct NodeTasks {
  int64_t tasks = 0, count = 1;
};

/// The tasks of the nodes of a step: "2(x3),1" is 2 on each of three nodes and 1 on the next. Empty if the text is no
/// such list.
std::vector<NodeTasks> tasksPerNode(std::string_view list);

}  // namespace tandem
