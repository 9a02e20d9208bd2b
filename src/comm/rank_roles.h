#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "comm/rank_environment.h"

namespace tandem {

/// What a process of a run is, as tf_cnn_benchmarks and tensorpack tell each that somebody starts: one of the workers,
/// which train, or of the servers ("ps"), which keep variables.
struct RankRoles {
  std::string job;                   ///< "worker", "ps", or with its number, "worker:0"; empty: no role
  int64_t taskIndex = -1;            ///< its number, from 0; -1: in `job`, or 0
  std::string workerHosts, psHosts;  ///< "HOST:PORT,HOST:PORT", in the order of numbers
};

/// A process's place among all. Workers are the first ranks, servers those behind.
struct RoledRank {
  RankPlace place;
  int64_t workers = 1, servers = 0;
};

/// The place that roles give. All meet at the first worker's address. Those of one host are on it by its name, and
/// "localhost" is one host with all addresses of loopback. They exchange through GLOO_SOCKET_IFNAME. Empty without a
/// role.
///
/// Throws UsageError that shows the values and the rule: if a list or a number is missing, wrong or out of range, if an
/// address is there twice, if the number is given twice, or if a launcher gives this process a place too.
std::optional<RoledRank> rankPlaceFromRoles(const RankRoles& roles, const Variables& variables);

}  // namespace tandem
