#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "run/equivalence_team.h"
#include "support/precisions.h"

namespace tandem::equivalence {

/// Of a lossy strategy, which must then give what the others do.
inline CompressionOptions withoutLoss() {
  return {.method = &find(compressions(), "topk", "compression"), .ratio = 1};  // leaves nothing out
}

/// A strategy with each of its own options.
inline std::vector<Case> variantsOf(const StrategyEntry& strategy, const Graph& graph) {
  std::vector<Case> variants;
  if (strategy.name == "parameter_server") {
    for (const char* device : {"cpu", "device", "cpu:0"}) {
      variants.push_back({.graph = &graph, .strategy = &strategy, .parameterDevice = device});
    }
    return variants;
  }
  if (!strategy.usesAllReduce) {
    variants.push_back({.graph = &graph, .strategy = &strategy, .compression = withoutLoss()});
    return variants;
  }
  for (const AllReduceEntry& allReduce : allReduces()) {
    if (!allReduce.onCpu || !accepts(strategy, allReduce)) continue;
    for (const int nodes : {1, 2}) {
      variants.push_back({.graph = &graph, .strategy = &strategy, .allReduce = std::string(allReduce.name)});
      variants.back().compression = withoutLoss();
      variants.back().nodes = nodes;
      if (!allReduce.ownersUpdate) break;  // the others do not look at nodes
    }
  }
  return variants;
}

/// The case with each precision, place of the loss, executor and number of replicas.
inline std::vector<Case> waysOf(Case c) {
  std::vector<Case> cases;
  for (const Precision& precision : precisionsOnCpu()) {
    for (const LossPlacementEntry& place : lossPlacements()) {
      for (const ExecutorEntry& executor : executors()) {
        for (const int replicas : {1, 2, 3, 4}) {
          c.precision = precision.name;
          c.lossAt = place.name;
          c.executor = executor.name;
          c.replicas = replicas;
          cases.push_back(c);
        }
      }
    }
  }
  return cases;
}

/// The cross product of the catalogs: what conformance means.
inline std::vector<Case> casesOf(const StrategyEntry& strategy, const Graph& graph) {
  std::vector<Case> cases;
  for (const Case& variant : variantsOf(strategy, graph)) {
    const auto ways = waysOf(variant);
    cases.insert(cases.end(), ways.begin(), ways.end());
  }
  return cases;
}

/// What ordinary tests run of it: the first variant in every way, and each other one in every precision on every number
/// of replicas. An all-reduce does not see by whom its tensors were made.
inline std::vector<Case> quickCasesOf(const StrategyEntry& strategy, const Graph& graph) {
  const auto variants = variantsOf(strategy, graph);
  std::vector<Case> cases = waysOf(variants.front());
  for (size_t i = 1; i < variants.size(); ++i) {
    for (const Case& c : waysOf(variants[i])) {
      if (c.executor == "planned" && c.lossAt == "replica") cases.push_back(c);
    }
  }
  return cases;
}

/// A strategy, and whether all of its cases are run: in long tests.
struct StrategyCases {
  StrategyEntry strategy;
  bool all = false;

  std::vector<Case> of(const Graph& graph) const {
    return all ? casesOf(strategy, graph) : quickCasesOf(strategy, graph);
  }
  friend std::ostream& operator<<(std::ostream& out, const StrategyCases& cases) { return out << cases.strategy.name; }
};

inline std::vector<StrategyCases> casesOfEachStrategy(bool all) {
  std::vector<StrategyCases> found;
  for (const StrategyEntry& strategy : strategies()) found.push_back({strategy, all});
  return found;
}

}  // namespace tandem::equivalence
